-- The profiler lost events or failed to collect some: counts and shares are lower bounds.
-- Where no calls were asked for, none are missing.
local function unattributed_of(f)
  return f.capture.has_calls ~= false and f.capture.unattributed or 0
end

return {
  id        = "capture/dropped-events",
  title     = "Capture again without losing events",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-F8", "K-O1" },
  effort    = "flag",
  topic     = "lost-launches",

  needs      = { "capture.dropped" },
  optional   = { "capture.dropped_text", "capture.has_calls", "capture.unattributed" },
  thresholds = { "min_messages", "min_unattributed" },

  symptom = "Part of the run is missing from the capture: {unattributed:pct} of the GPU operations have no recorded launch{text:text}",
  cause   = "The profiler's buffers overflowed, or another tool held the counters. Counts and shares in this report are lower bounds.",
  fixes   = {
    { action = "Record for a shorter time, and only what is needed, so that buffers do not overflow",
      snippet = "nsys profile --trace=cuda,nvtx --duration=30 -o report -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Have the profiler write its buffers more often, and give it a fast local disk",
      snippet = "TMPDIR=/local/scratch nsys profile --cuda-flush-interval=1000 -o report -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Do not run another profiler, debugger or counter service at the same time",
      snippet = "dcgmi profile --pause", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Messages about kinds of data that nobody needs here.",
  references = { "nsys/cli-options", "nvidia/dcgm", "nsys/user-guide" },

  applies = function(f)
    return f.capture.dropped > 0 or unattributed_of(f) > 0, "the profiler lost nothing, and every GPU operation has its launching call"
  end,

  detect = function(f, t)
    local unattributed = unattributed_of(f)
    local messages = at_least(f.capture.dropped, t.min_messages)
    local orphans = at_least(unattributed, t.min_unattributed)
    if not messages and not orphans then return nil end
    local has_text = f.capture.dropped_text ~= nil and f.capture.dropped_text ~= ""
    return { dropped = f.capture.dropped, unattributed = unattributed,
             text = has_text and "; the profiler says: " .. f.capture.dropped_text or "." }
  end,

  tests = {
    { name = "the profiler says that buffers ran over",
      facts = { capture = { dropped = 2, dropped_text = "Not all CUDA events were collected.", unattributed = 0.3 } },
      expect = { dropped = 2, unattributed = 0.3, text = "; the profiler says: Not all CUDA events were collected." } },
    { name = "no message, but half of the kernels have no launching call",
      edges = { ["capture.unattributed"] = 0.05 },
      facts = { capture = { dropped = 0, unattributed = 0.52 } },
      expect = { dropped = 0, unattributed = 0.52, text = "." } },
    { name = "near miss: a few operations were queued when the capture began",
      edges = { ["capture.dropped"] = 1 },
      facts = { capture = { dropped = 0, unattributed = 0.007 } },
      expect = "silent" },
    { name = "nothing was lost", facts = { capture = { dropped = 0, unattributed = 0 } }, expect = "not_applicable" },
    { name = "no calls were recorded at all", facts = { capture = { dropped = 0, unattributed = 1, has_calls = false } }, expect = "not_applicable" },
    { name = "the input has no messages of the profiler", facts = {}, expect = "cannot_tell" },
  },
}
