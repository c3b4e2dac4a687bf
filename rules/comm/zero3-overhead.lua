-- Parameters are gathered in every layer, forward and backward, although the memory that this saves is not needed.
return {
  id        = "comm/zero3-overhead",
  title     = "Shard only gradients and optimizer state (ZeRO-2): the weights fit on every GPU",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 68,
  explains  = { "comm/exposed", "comm/full-link" },
  knowledge = { "K-K5", "K-N14", "K-K12", "K-K4" },
  effort    = "flag",

  needs      = { "strategy.zero_stage", "strategy.data", "strategy.gather_lost", "strategy.memory_peak",
                 "strategy.memory_capacity", "window.device_time" },
  optional   = { "strategy.regather_lost", "strategy.regather_remedy", "strategy.unsharded_weights" },
  thresholds = { "min_share", "max_used", "max_used_unknown" },

  symptom = "For {share:pct} of the time, the GPUs do nothing but gather parameters. The fullest GPU uses {used:pct} of its {capacity:bytes}{weights:text}.",
  cause   = "Full sharding (ZeRO-3, FSDP) sends all weights twice per step, in addition to the gradients that every data-parallel program sends. It pays off where weights do not fit; here they would. With Adam in mixed precision, a billion parameters take 2 GB of weights and 14 GB of gradients and optimizer state, and ZeRO-2 shards those 14 GB as well.",
  fixes   = {
    { action = "Keep whole weights and shard gradients and optimizer state",
      snippet = "fully_shard(model, reshard_after_forward=False)   # FSDP1: sharding_strategy=ShardingStrategy.SHARD_GRAD_OP", language = "python", ["for"] = { "pytorch" } },
    { action = "With DeepSpeed, use stage 2",
      snippet = "{ \"zero_optimization\": { \"stage\": 2, \"overlap_comm\": true, \"reduce_bucket_size\": 5e8 } }", language = "json", ["for"] = { "pytorch" } },
    { action = "Use the free memory for a larger batch per GPU, so that each gather serves more work" },
  },
  false_positives = "A capture of a small test case of a model that is larger in production. Activations that grow later.",
  references = { "deepspeed/zero", "pytorch/fsdp" },

  applies = function(f)
    return f.strategy.zero_stage == 3, "parameters are not gathered"
  end,

  detect = function(f, t)
    local s = f.strategy
    local lost = share(s.gather_lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    local after = share(s.memory_peak, s.memory_capacity)
    local weights = ""
    if s.unsharded_weights then
      after = share(s.memory_peak + s.unsharded_weights, s.memory_capacity)
      if not at_most(after, t.max_used) then return nil end
      weights = ", and whole weights would fit as well"
    elseif not at_most(after, t.max_used_unknown) then
      return nil
    end
    return { share = lost, used = share(s.memory_peak, s.memory_capacity), capacity = s.memory_capacity, weights = weights,
             after = after, ranks = s.data }
  end,

  saving = function(f)
    return { claims = f.strategy.regather_lost or f.strategy.gather_lost, remedy = f.strategy.regather_remedy, part = 0.5, confidence = 0.5,
             basis = "the backward pass needs no gathers when the weights are kept" }
  end,

  tests = {
    { name = "30 of 80 GB in use, 14 GB of weights",
      edges = { ["strategy.gather_lost"] = 2e8, ["strategy.memory_capacity"] = 4.76e10 },
      facts = { window = { device_time = 4e9 },
                strategy = { zero_stage = 3, data = 4, gather_lost = 8e8, regather_lost = 5e8, regather_remedy = true, memory_peak = 30e9, memory_capacity = 80e9,
                             unsharded_weights = 10.5e9 } },
      expect = { share = 0.2, used = 0.375, ranks = 4 }, saving = { claims = 5e8 } },
    { name = "sizes are not known, but three quarters of the memory are free",
      edges = { ["strategy.memory_capacity"] = 4.5e10 },
      facts = { window = { device_time = 4e9 },
                strategy = { zero_stage = 3, data = 4, gather_lost = 8e8, memory_peak = 18e9, memory_capacity = 80e9 } },
      expect = { share = 0.2, used = 0.225 } },
    { name = "near miss: the weights would not fit",
      facts = { window = { device_time = 4e9 },
                strategy = { zero_stage = 3, data = 4, gather_lost = 8e8, memory_peak = 62e9, memory_capacity = 80e9,
                             unsharded_weights = 26e9 } },
      expect = "silent" },
    { name = "near miss: gathers are hidden behind compute",
      facts = { window = { device_time = 4e9 },
                strategy = { zero_stage = 3, data = 4, gather_lost = 3e7, memory_peak = 30e9, memory_capacity = 80e9,
                             unsharded_weights = 10e9 } },
      expect = "silent" },
    { name = "replicated data parallelism", facts = { strategy = { zero_stage = 0 } }, expect = "not_applicable" },
    { name = "memory was not recorded",
      facts = { window = { device_time = 4e9 }, strategy = { zero_stage = 3, data = 4, gather_lost = 8e8 } },
      expect = "cannot_tell" },
  },
}
