-- Stacks of a CPU profiler: what the host does, without knowing what the GPU did meanwhile.
return {
  id        = "profile/cpu-samples",
  title     = "Find out whether the GPU waits for the host's busiest function",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  priority  = 5,
  knowledge = { "K-A1" },
  effort    = "flag",
  observed  = "measured",

  needs      = { "totals.stacks.samples", "totals.stacks.rows" },
  optional   = { "window.device_time" },
  thresholds = { "min_share" },

  symptom = "{share:pct} of {samples:count} CPU samples are in {name:text}. Functions with {least:pct} or more each: {many:count}.",
  cause   = "A CPU profile shows what the host does, not whether the GPU waits for it. What the host does while the GPU computes costs nothing.",
  fixes   = {
    { action = "Capture a timeline with CPU samples, which shows both",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree -o run -- COMMAND\nadvise run.nsys-rep", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Samples of waiting threads, where the profiler counts these, too.",
  references = { "nsys/user-guide" },

  applies = function(f)
    if f.window.device_time ~= nil then return false, "the timeline tells more" end
    return f.totals.stacks.samples > 0, "no CPU stacks were given"
  end,

  detect = function(f, t)
    local rows = filter(f.totals.stacks.rows, function(row) return at_least(row.share, t.min_share) end)
    if #rows == 0 then return nil end
    return { samples = f.totals.stacks.samples, name = rows[1].name, share = rows[1].share, many = #rows, least = t.min_share, rows = rows }
  end,

  tests = {
    { name = "decoding of images",
      edges = { ["totals.stacks.rows[1].share"] = 0.05 }, facts = { totals = { stacks = { samples = 1000, rows = { { name = "jpeg_decode", share = 0.6 }, { name = "read", share = 0.01 } } } } },
      expect = { name = "jpeg_decode", share = 0.6, many = 1, rows = 1 } },
    { name = "near miss: spread over many", facts = { totals = { stacks = { samples = 1000, rows = { { name = "a", share = 0.01 } } } } }, expect = "silent" },
    { name = "beside a timeline", facts = { window = { device_time = 1e9 }, totals = { stacks = { samples = 1000, rows = {} } } }, expect = "not_applicable" },
    { name = "no stacks", facts = { totals = { stacks = { samples = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
