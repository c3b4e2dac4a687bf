-- Most of the device memory is free, and kernels have fewer blocks than the GPU has SMs: the batch is too small for this
-- GPU. Two signals, because a small footprint alone is no fault. What a larger batch wins cannot be told from the trace,
-- so nothing is claimed; kernel/small-grid claims what can be.
return {
  id        = "memory/underused",
  title     = "Use a larger batch: memory and SMs are mostly free",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 35,
  knowledge = { "K-K15" },

  needs      = { "memory.peak", "memory.capacity", "kernel.small_grid.share" },
  optional   = { "kernel.small_grid.median_blocks", "kernel.small_grid.sms", "launch.queue_empty" },
  thresholds = { "max_used", "min_small_grid" },

  symptom = "At most {peak:bytes} of {capacity:bytes} are in use ({used:pct}), and kernels with fewer blocks than the GPU has SMs take {part:pct} of the compute time.",
  cause   = "A step does too little work to fill this GPU.",
  fixes   = {
    { action  = "Raise the (micro-)batch until memory is half to three quarters full; adjust the learning rate and check that training converges",
      snippet = [[loader = DataLoader(dataset, batch_size=4 * B)
for group in optimizer.param_groups:
    group["lr"] *= 2      # for instance, by the root of the factor]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "With gradient accumulation, use fewer, larger micro-batches" },
    { action = "If the problem is no larger, share the GPU (MPS, MIG) or use a smaller one" },
  },
  false_positives = "Serving with a latency limit, or a batch size that the experiment prescribes.",
  references = { "pytorch/tuning-guide", "cuda/mps" },

  applies = function(f) return f.memory.capacity > 0 and f.memory.peak > 0, "the memory in use is not known" end,

  detect = function(f, t)
    local used = share(f.memory.peak, f.memory.capacity)
    if not at_most(used, t.max_used) then return nil end
    if not at_least(f.kernel.small_grid.share, t.min_small_grid) then return nil end
    return { used = used, peak = f.memory.peak, capacity = f.memory.capacity, part = f.kernel.small_grid.share,
             blocks = f.kernel.small_grid.median_blocks, sms = f.kernel.small_grid.sms, empty = f.launch.queue_empty }
  end,

  tests = {
    { name = "a twentieth of the memory, kernels of 16 blocks",
      edges = { ["kernel.small_grid.share"] = 0.3, ["memory.capacity"] = 1.33e10 },
      facts = { memory = { peak = 4e9, capacity = 8e10 }, kernel = { small_grid = { share = 0.6, median_blocks = 16,
                                                                                    sms = 108 } } },
      expect = { used = 0.05, peak = 4e9, capacity = 8e10, part = 0.6, blocks = 16, sms = 108 } },
    { name = "near miss: little memory, the GPU is filled all the same",
      facts = { memory = { peak = 4e9, capacity = 8e10 }, kernel = { small_grid = { share = 0.05 } } }, expect = "silent" },
    { name = "near miss: small kernels, but no room for a larger batch",
      facts = { memory = { peak = 6e10, capacity = 8e10 }, kernel = { small_grid = { share = 0.6 } } }, expect = "silent" },
    { name = "no memory level",
      facts = { memory = { peak = 0, capacity = 8e10 }, kernel = { small_grid = { share = 0.6 } } }, expect = "not_applicable" },
    { name = "memory events were not recorded",
      facts = { memory = { capacity = 8e10 }, kernel = { small_grid = { share = 0.6 } } }, expect = "cannot_tell" },
  },
}
