-- Part of the window is the profiler's own work on launching threads, which the program without a profiler does not have.
return {
  id        = "capture/profiler-overhead",
  title     = "Capture with less profiler overhead",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-O4" },
  effort    = "flag",
  own_steps = true,

  needs      = { "capture.overhead", "window.time" },
  optional   = { "idle.profiler_overhead" },
  thresholds = { "min_share" },

  symptom = "The profiler itself ran on launching threads for {overhead:time}, {share:pct} of the window.{idle_text:text}",
  cause   = "The profiler flushes buffers, takes call stacks and writes samples on the launching threads. Host times in this report are longer than without a profiler.",
  fixes   = {
    { action = "Record less at a time: leave out CPU sampling and the call stacks of CUDA calls",
      snippet = "nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none --cudabacktrace=none -o report -- COMMAND",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Capture a few steps instead of all",
      snippet = "nsys profile --capture-range=cudaProfilerApi --capture-range-end=stop -o report -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "With torch.profiler, turn off stacks and shapes",
      snippet = "profile(with_stack=False, record_shapes=False, profile_memory=False)", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Overhead while the GPU has enough queued work. It costs nothing then.",
  references = { "nsys/cli-options", "pytorch/profiler" },

  applies = function(f) return f.capture.overhead > 0, "no overhead of the profiler was recorded" end,

  detect = function(f, t)
    local part = share(f.capture.overhead, f.window.time)
    if not at_least(part, t.min_share) then return nil end
    local waited = (f.idle.profiler_overhead or 0) > 0
    return { share = part, overhead = f.capture.overhead, idle = f.idle.profiler_overhead,
             idle_text = waited and " The GPU was idle for part of that time." or "" }
  end,

  tests = {
    { name = "a tenth of the window",
      edges = { ["capture.overhead"] = 6e7 },
      facts = { window = { time = 2e9 }, capture = { overhead = 2e8 }, idle = { profiler_overhead = 1.5e8 } },
      expect = { share = 0.1, overhead = 2e8, idle = 1.5e8, idle_text = " The GPU was idle for part of that time." } },
    { name = "the GPU had work meanwhile",
      facts = { window = { time = 2e9 }, capture = { overhead = 2e8 }, idle = { profiler_overhead = 0 } },
      expect = { share = 0.1, idle_text = "" } },
    { name = "near miss: a percent, as every capture has",
      facts = { window = { time = 2e9 }, capture = { overhead = 2e7 }, idle = { profiler_overhead = 1e7 } },
      expect = "silent" },
    { name = "none", facts = { window = { time = 2e9 }, capture = { overhead = 0 } }, expect = "not_applicable" },
    { name = "the profiler does not record its overhead", facts = { window = { time = 2e9 } }, expect = "cannot_tell" },
  },
}
