-- Far more steps than advice needs: the report is large, slow to read, and carries the profiler's cost all the way.
return {
  id        = "capture/too-long",
  title     = "Capture a minute instead of the whole run",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-I7" },
  effort    = "flag",
  own_steps = true,

  needs      = { "capture.seconds", "capture.steps" },
  thresholds = { "max_seconds", "min_steps" },

  symptom = "The recording lasts {time:time} and holds {steps:count} steps.",
  cause   = "Steps are alike, so a few dozen show what thousands show, with a smaller file and less overhead.",
  fixes   = {
    { action = "Skip the start and record half a minute",
      snippet = "nsys profile --delay=120 --duration=30 -o report -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Select the steps in the program",
      snippet = "nsys profile --capture-range=cudaProfilerApi --capture-range-end=stop -o report -- COMMAND\n" ..
                "# in the loop: torch.cuda.profiler.start() at step 100, torch.cuda.profiler.stop() at step 120",
      language = "bash", ["for"] = { "pytorch", "nvidia" } },
    { action = "Analyze a part of this capture", snippet = "advise --window 60:90 report.sqlite", language = "bash" },
  },
  false_positives = "A hunt for something rare, such as a slow step, a leak or a periodic stall.",
  references = { "nsys/cli-options" },

  applies = function(f) return f.capture.steps > 0, "no steps were found" end,

  detect = function(f, t)
    local capture = f.capture
    if not at_least(capture.seconds, t.max_seconds) or not at_least(capture.steps, t.min_steps) then return nil end
    return { steps = capture.steps, seconds = capture.seconds, time = capture.seconds * 1e9 }
  end,

  tests = {
    { name = "ten minutes with 4000 steps",
      edges = { ["capture.seconds"] = 120, ["capture.steps"] = 200 },
      facts = { capture = { seconds = 600, steps = 4000 } },
      expect = { steps = 4000, seconds = 600, time = 6e11 } },
    { name = "near miss: a minute with many short steps",
      facts = { capture = { seconds = 60, steps = 4000 } },
      expect = "silent" },
    { name = "near miss: ten minutes, but a step takes a minute",
      facts = { capture = { seconds = 600, steps = 10 } },
      expect = "silent" },
    { name = "no steps", facts = { capture = { seconds = 600, steps = 0 } }, expect = "not_applicable" },
    { name = "the length of the session is not known", facts = { capture = { steps = 4000 } }, expect = "cannot_tell" },
  },
}
