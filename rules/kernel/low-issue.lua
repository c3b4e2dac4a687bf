-- SMs have work and issue few instructions, while memory is not at its limit: warps wait. Kernels that memory limits also issue little;
-- they are kernel/memory-bound. Tensor instructions do much with few issues, so busy tensor pipes are no fault either.
return {
  id        = "kernel/low-issue",
  title     = "Give the schedulers something to issue",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  priority  = 40,
  knowledge = { "K-F3", "K-F4", "K-F5" },
  effort    = "code",

  needs      = { "sample.compute.sm_active", "sample.compute.sm_issue", "sample.compute.samples" },
  optional   = { "sample.compute.dram", "sample.compute.tensor" },
  thresholds = { "min_active", "max_issue", "max_dram", "max_tensor", "min_samples" },

  symptom = "{active:pct} of the SMs have work while kernels run, and use {issue:pct} of their issue slots; memory is at {dram:pct} of its rate.",
  cause   = "Warps wait for memory or for their own results, and there are not enough of them to cover the latency.",
  fixes   = {
    { action = "Larger blocks, more warps, or more independent work in each thread" },
    { action = "See which kernels and which stalls, with counters of the longest ones",
      snippet = "ncu --set full --launch-count 20 --csv --page raw --print-units base -- COMMAND > kernels.csv\nadvise run.sqlite kernels.csv", language = "bash" },
  },
  false_positives = "Kernels that wait on purpose, for instance for data of other GPUs.",
  references = { "nsys/gpu-metrics", "ncu/profiling-guide" },

  applies = function(f) return f.sample.compute.samples > 0, "no samples fell into compute kernels" end,

  detect = function(f, t)
    local sample = f.sample.compute
    if not at_least(sample.samples, t.min_samples) then return nil end
    if not at_least(sample.sm_active, t.min_active) or not at_most(sample.sm_issue, t.max_issue) then return nil end
    if sample.dram and not at_most(sample.dram, t.max_dram) then return nil end
    if sample.tensor and not at_most(sample.tensor, t.max_tensor) then return nil end
    return { active = sample.sm_active, issue = sample.sm_issue, dram = sample.dram or 0, samples = sample.samples }
  end,

  tests = {
    { name = "SMs full of warps that wait",
      facts = { sample = { compute = { sm_active = 0.95, sm_issue = 0.06, dram = 0.2, tensor = 0, samples = 5000 } } },
      expect = { active = 0.95, issue = 0.06, dram = 0.2, samples = 5000 } },
    { name = "near miss: memory is at its limit",
      facts = { sample = { compute = { sm_active = 0.95, sm_issue = 0.06, dram = 0.8, tensor = 0, samples = 5000 } } }, expect = "silent" },
    { name = "near miss: tensor cores are at work",
      facts = { sample = { compute = { sm_active = 0.95, sm_issue = 0.1, dram = 0.3, tensor = 0.6, samples = 5000 } } }, expect = "silent" },
    { name = "near miss: half of the slots are used",
      facts = { sample = { compute = { sm_active = 0.95, sm_issue = 0.5, dram = 0.2, tensor = 0, samples = 5000 } } }, expect = "silent" },
    { name = "no sample fell into a kernel", facts = { sample = { compute = { sm_active = 0, sm_issue = 0, samples = 0 } } }, expect = "not_applicable" },
    { name = "no samples", facts = {}, expect = "cannot_tell" },
  },
}
