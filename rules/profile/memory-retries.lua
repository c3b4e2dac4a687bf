-- PyTorch's memory summary counts allocations that only worked after the cache was emptied: each blocks the host and the GPU.
return {
  id        = "profile/memory-retries",
  title     = "Leave room on the GPU, so that allocations work the first time",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  knowledge = { "K-C4" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "out-of-memory",

  needs      = { "allocator.given", "allocator.retries", "allocator.reserved.peak" },
  optional   = { "allocator.out_of_memory", "environment.allocator" },
  thresholds = { "min_retries" },

  symptom = "According to PyTorch's memory summary, {retries:count} allocations failed at first, with up to {reserved:bytes} reserved.",
  cause   = "When cudaMalloc fails, PyTorch waits for the GPU, gives its whole cache back, and allocates again. All of that costs time.",
  fixes   = {
    { reason = "!set", action = "Let the allocator grow its segments, which leaves fewer gaps between tensors (PyTorch 2.1 and later)",
      snippet = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True   # PyTorch 2.9 and later: PYTORCH_ALLOC_CONF", language = "bash", ["for"] = { "pytorch" } },
    { action = "Use a smaller micro-batch, or save activation memory by checkpointing" },
  },
  false_positives = "Retries of the first steps, while the largest batch has not been seen.",
  references = { "pytorch/memory-management" },

  applies = function(f) return f.allocator.given, "no memory summary of PyTorch was given" end,

  detect = function(f, t)
    if not at_least(f.allocator.retries, t.min_retries) then return nil end
    -- Segments that already grow, and an allocator of the driver, leave nothing for that option to do.
    local options = f.environment.allocator or ""
    local reason = (contains(options, "expandable_segments:True") or contains(options, "cudaMallocAsync")) and "set" or nil
    return { reason = reason, retries = f.allocator.retries, reserved = f.allocator.reserved.peak, failed = f.allocator.out_of_memory or 0 }
  end,

  tests = {
    { name = "dozens of retries",
      edges = { ["allocator.retries"] = 1 }, facts = { allocator = { given = true, retries = 40, reserved = { peak = 2.4e10 }, out_of_memory = 0 } },
      expect = { retries = 40, reserved = 2.4e10 } },
    { name = "segments grow already",
      facts = { allocator = { given = true, retries = 40, reserved = { peak = 2.4e10 } }, environment = { allocator = "expandable_segments:True" } },
      expect = { retries = 40, reason = "set" } },
    { name = "near miss: none", facts = { allocator = { given = true, retries = 0, reserved = { peak = 2.4e10 } } }, expect = "silent" },
    { name = "no summary", facts = { allocator = { given = false } }, expect = "not_applicable" },
  },
}
