-- cudaEventElapsedTime needs both events to have happened, so it usually stands behind a wait. In every step it is
-- instrumentation that changes what it measures.
return {
  id        = "sync/timed-every-step",
  title     = "Read event timers every few hundred steps",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-O3", "K-O4" },

  needs      = { "calls.event_timing.per_step" },
  thresholds = { "min_per_step" },

  symptom = "Event timers are read {count:count} times {per:text}.",
  cause   = "The program times its own steps, and reading a timer usually waits for the GPU. The host's clock does not help: without a synchronization it stops when the work is launched, not when it is done.",
  fixes   = {
    { action = "Record events in each step, and read them some hundred steps later, when they have completed long ago" },
    { action = "If you time with the host's clock, synchronize before both readings, and only once for many steps",
      snippet = "torch.cuda.synchronize(); start = time.perf_counter()\nfor _ in range(100):\n    step(batch)\ntorch.cuda.synchronize(); per_step = (time.perf_counter() - start) / 100", language = "python", ["for"] = { "pytorch" } },
    { action = "Let the profiler or an NVTX range do the timing" },
  },
  false_positives = "Benchmarks.",
  references = { "cuda-best-practices/timing" },

  applies = function(f)
    return f.calls.event_timing.per_step > 0, "no event timers are read"
  end,

  detect = function(f, t)
    if not at_least(f.calls.event_timing.per_step, t.min_per_step) then return nil end
    return { count = f.calls.event_timing.per_step }
  end,

  tests = {
    { name = "three a step",
      edges = { ["calls.event_timing.per_step"] = 1 },
      facts = { calls = { event_timing = { per_step = 3 } } },
      expect = { count = 3 } },
    { name = "near miss: now and then",
      facts = { calls = { event_timing = { per_step = 0.05 } } },
      expect = "silent" },
    { name = "none",
      facts = { calls = { event_timing = { per_step = 0 } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
