-- How much of the memory was ever used, by the monitor. Frameworks keep what they once took, so this is an upper bound of the need.
return {
  id        = "monitor/memory-headroom",
  title     = "Use the free memory for a larger batch",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-K15", "K-O7", "K-N3" },
  effort    = "flag",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.memory.peak", "monitor.memory.capacity" },
  optional   = { "monitor.gpus_idle" },
  thresholds = { "max_used" },

  symptom = "At most {peak:bytes} of {capacity:bytes} ({used:pct}) were in use on any GPU during the log.",
  cause   = "The batch, the sequence or the model leaves room. If kernels are small, a larger batch gives each of them more work.",
  fixes   = {
    { action = "Raise the micro-batch until half to three quarters of the memory is in use, and adjust the learning rate" },
    { action = "Run several jobs on the GPU (MPS, MIG), or request a smaller GPU" },
  },
  false_positives = "Kernels that already fill the GPU gain nothing from a larger batch.",
  references = { "nvidia/smi", "cuda/mps" },

  applies = function(f)
    if f.monitor.gpus == 0 then return false, "no monitor log was given" end
    if f.monitor.gpus_idle == f.monitor.gpus then return false, "no GPU of the log did anything" end
    return f.monitor.memory.capacity > 0, "the memory of the GPU is not known"
  end,

  detect = function(f, t)
    local used = share(f.monitor.memory.peak, f.monitor.memory.capacity)
    if not at_most(used, t.max_used) then return nil end
    return { used = used, peak = f.monitor.memory.peak, capacity = f.monitor.memory.capacity }
  end,

  tests = {
    { name = "a tenth of the memory",
      edges = { ["monitor.memory.capacity"] = 1.6e10 },
      facts = { monitor = { gpus = 1, memory = { peak = 8e9, capacity = 8e10 } } }, expect = { used = 0.1, peak = 8e9 } },
    { name = "near miss: most of it", facts = { monitor = { gpus = 1, memory = { peak = 6e10, capacity = 8e10 } } }, expect = "silent" },
    { name = "nothing ran", facts = { monitor = { gpus = 1, gpus_idle = 1, memory = { peak = 4e6, capacity = 8e10 } } }, expect = "not_applicable" },
    { name = "no monitor", facts = { monitor = { gpus = 0 } }, expect = "not_applicable" },
    { name = "memory was not logged", facts = { monitor = { gpus = 1 } }, expect = "cannot_tell" },
  },
}
