-- The peak of device memory is close to what the device has. Nothing is lost yet, so nothing is claimed; but the next
-- longer sequence aborts the run, and an allocator without room has to give memory back and ask again.
return {
  id        = "memory/near-capacity",
  title     = "Free some device memory",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  risk      = "out-of-memory",
  priority  = 20,
  knowledge = { "K-C4", "K-N3" },

  needs      = { "memory.peak", "memory.capacity" },
  optional   = { "environment.allocator", "run.framework" },
  thresholds = { "min_used" },

  symptom = "At its peak, {peak:bytes} of {capacity:bytes} of device memory are in use ({used:pct}).",
  cause   = "There is hardly any room for a larger batch or problem, or for fragmentation.",
  fixes   = {
    { reason = "!set", action = "Reduce memory fragmentation (PyTorch 2.1 and later)",
      snippet = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True   # PyTorch 2.9 and later: PYTORCH_ALLOC_CONF", language = "bash", ["for"] = { "pytorch", "nvidia" } },
    { action  = "Use less memory: a smaller micro-batch with gradient accumulation, 16-bit types, or activation checkpointing",
      snippet = "out = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)", language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Spread parameters and optimizer state across the ranks: FSDP, ZeRO", ["for"] = { "pytorch", "training" } },
    { action  = "Use less memory: smaller batches, 16-bit or 8-bit weights, and no gradients",
      snippet = "with torch.inference_mode():\n    out = model(x)", language = "python", ["for"] = { "pytorch", "inference" } },
    { action = "In a server, lower the share of memory that is reserved for caches" },
  },
  false_positives = "Programs that take nearly all memory at the start and manage it themselves.",
  references = { "pytorch/memory-management", "pytorch/activation-checkpointing", "pytorch/fsdp" },

  applies = function(f)
    -- These take what they may get at the start, and manage it themselves.
    local own = f.run.framework or ""
    for _, name in ipairs({ "vLLM", "SGLang", "TensorRT-LLM", "JAX", "TensorFlow" }) do
      if own == name then return false, name .. " takes nearly all memory at the start and manages it itself" end
    end
    if f.memory.capacity <= 0 or f.memory.peak <= 0 then return false, "the memory in use is not known" end
    -- Impossible figures are of another GPU than the one that is named.
    return f.memory.peak <= f.memory.capacity, "the report counts more memory than this GPU has"
  end,

  detect = function(f, t)
    local used = share(f.memory.peak, f.memory.capacity)
    if not at_least(used, t.min_used) then return nil end
    -- Segments that already grow, and an allocator of the driver, leave nothing for that option to do.
    local options = f.environment.allocator or ""
    local reason = (contains(options, "expandable_segments:True") or contains(options, "cudaMallocAsync")) and "set" or nil
    return { reason = reason, used = used, peak = f.memory.peak, capacity = f.memory.capacity }
  end,

  tests = {
    { name = "79 of 80 GB", facts = { memory = { peak = 7.9e10, capacity = 8e10 } },
      expect = { used = 0.9875, peak = 7.9e10, capacity = 8e10 } },
    { name = "segments grow already", facts = { memory = { peak = 7.9e10, capacity = 8e10 }, environment = { allocator = "expandable_segments:True" } },
      expect = { used = 0.9875, reason = "set" } },
    { name = "a server that fills its cache on purpose", facts = { memory = { peak = 7.9e10, capacity = 8e10 }, run = { framework = "vLLM" } },
      expect = "not_applicable" },
    { name = "near miss: well filled", facts = { memory = { peak = 7.2e10, capacity = 8e10 } }, expect = "silent" },
    { name = "more than there is", facts = { memory = { peak = 3.2e10, capacity = 1.6e10 } }, expect = "not_applicable" },
    { name = "no memory level", facts = { memory = { peak = 0, capacity = 8e10 } }, expect = "not_applicable" },
    { name = "memory events were not recorded", facts = { memory = { capacity = 8e10 } }, expect = "cannot_tell" },
  },
}
