-- SMs have work and issue few instructions, while memory is not at its limit: warps wait. Kernels that memory limits also issue little;
-- they are kernel/memory-bound. Tensor instructions do much with few issues, so busy tensor pipes are no fault either.
-- What can be won: samples are means over kernels of all sorts. Were each kernel at the limit of one unit in turn, the means of the
-- units would add up to what units reach (achievable). What is missing to that is time in which all of them wait: the bound. Of it a
-- small part is promised, since samples see neither the caches nor shared memory, and not whether the code has more parallelism to
-- give. Without samples of memory and of tensor pipes there is no bound, and nothing is promised.
return {
  id        = "kernel/low-issue",
  title     = "Keep the SM schedulers busy",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 40,
  knowledge = { "K-F3", "K-F4", "K-F5" },
  effort    = "code",

  needs      = { "sample.compute.sm_active", "sample.compute.sm_issue", "sample.compute.samples" },
  optional   = { "sample.compute.dram", "sample.compute.tensor", "sample.compute.lost" },
  thresholds = { "min_active", "max_issue", "max_dram", "max_tensor", "min_samples", "achievable", "winnable" },

  symptom = "While kernels run, {active:pct} of the SMs have work, but they use only {issue:pct} of their issue slots. Memory runs at {dram:pct} of its peak rate.",
  cause   = "Warps wait for memory or for their own results, and there are not enough warps to hide the latency.",
  fixes   = {
    { action = "Use larger blocks, more warps, or more independent work per thread" },
    { action = "Find out which kernels and which stalls, with counters of the longest kernels",
      snippet = "ncu --set full --launch-count 20 --csv --page raw --print-units base -- COMMAND > kernels.csv\nadvise run.sqlite kernels.csv", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Kernels that wait on purpose, for example for data from other GPUs.",
  references = { "nsys/gpu-metrics", "ncu/profiling-guide" },

  applies = function(f) return f.sample.compute.samples > 0, "no samples fell into compute kernels" end,

  detect = function(f, t)
    local sample = f.sample.compute
    if not at_least(sample.samples, t.min_samples) then return nil end
    if not at_least(sample.sm_active, t.min_active) or not at_most(sample.sm_issue, t.max_issue) then return nil end
    if sample.dram and not at_most(sample.dram, t.max_dram) then return nil end
    if sample.tensor and not at_most(sample.tensor, t.max_tensor) then return nil end
    local headroom = 0
    if sample.dram and sample.tensor then
      headroom = math.max(0, 1 - share(sample.sm_issue + sample.dram + sample.tensor, t.achievable))
    end
    return { active = sample.sm_active, issue = sample.sm_issue, dram = sample.dram or 0, samples = sample.samples, headroom = headroom }
  end,

  saving = function(f, t, e)
    if e.headroom == 0 or f.sample.compute.lost == nil then return nil end
    return { claims = f.sample.compute.lost, part = e.headroom * t.winnable, confidence = 0.2,
             basis = "a small part of the compute time in which issue slots, memory and tensor pipes are all idle is gone" }
  end,

  tests = {
    { name = "SMs full of warps that wait",
      edges = { ["sample.compute.dram"] = 0.5, ["sample.compute.samples"] = 50, ["sample.compute.sm_active"] = 0.5, ["sample.compute.sm_issue"] = 0.15, ["sample.compute.tensor"] = 0.3 },
      facts = { sample = { compute = { sm_active = 0.95, sm_issue = 0.05, dram = 0.12, tensor = 0, samples = 5000, lost = 1e9 } } },
      expect = { active = 0.95, issue = 0.05, dram = 0.12, samples = 5000, headroom = 0.8 },
      saving = { claims = 1e9, part = 0.12 } },
    { name = "kernels that are at one limit each in turn: nothing can be won, so nothing is claimed",
      facts = { sample = { compute = { sm_active = 0.95, sm_issue = 0.15, dram = 0.45, tensor = 0.25, samples = 5000, lost = 1e9 } } },
      expect = { issue = 0.15, headroom = 0 } },
    { name = "memory was not sampled: no bound, so no claim",
      facts = { sample = { compute = { sm_active = 0.95, sm_issue = 0.06, samples = 5000, lost = 1e9 } } },
      expect = { issue = 0.06, headroom = 0 } },
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
