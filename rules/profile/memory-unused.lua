-- PyTorch reserved far more than its tensors ever held at once: fragments, or a peak of another phase. Its memory summary says so,
-- or its profiler with profile_memory=True.
return {
  id        = "profile/memory-unused",
  title     = "Reduce the memory that PyTorch reserves and does not use",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  knowledge = { "K-C4" },
  effort    = "flag",
  observed  = "measured",

  needs      = { "allocator.given" },
  optional   = { "allocator.tensors.peak", "allocator.reserved.peak", "memory.reserved_peak", "memory.allocated_peak", "environment.allocator",
                 "allocator.unusable.peak" },
  thresholds = { "min_share", "min_bytes" },

  symptom = "According to {source:text}, up to {reserved:bytes} were reserved, and tensors held at most {tensors:bytes} at once: {share:pct} were never used.{split_text:text}",
  cause   = "Cached blocks into which no tensor fits stay reserved. Sizes that change from step to step leave many of them.",
  fixes   = {
    { reason = "!set", action = "Let the allocator grow its segments (PyTorch 2.1 and later)",
      snippet = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True   # PyTorch 2.9 and later: PYTORCH_ALLOC_CONF", language = "bash", ["for"] = { "pytorch" } },
    { action = "Pad batches to a few fixed lengths, so that blocks fit again" },
  },
  false_positives = "Memory that nothing else wants: a cache costs nothing while it fits.",
  references = { "pytorch/memory-management" },

  applies = function(f)
    local profiled = f.memory.reserved_peak ~= nil and f.memory.allocated_peak ~= nil
    return f.allocator.given or profiled, "neither a memory summary of PyTorch nor its profile of memory was given"
  end,

  detect = function(f, t)
    local reserved, tensors, source = f.allocator.reserved.peak, f.allocator.tensors.peak, "PyTorch's memory summary"
    if not f.allocator.given then
      reserved, tensors, source = f.memory.reserved_peak, f.memory.allocated_peak, "PyTorch's profile of memory"
    end
    if reserved == nil or tensors == nil then return nil end
    local part = share(reserved - tensors, reserved)
    if not at_least(part, t.min_share) or not at_least(reserved - tensors, t.min_bytes) then return nil end
    -- Segments that already grow, and an allocator of the driver, leave nothing for that option to do.
    local options = f.environment.allocator or ""
    local reason = (contains(options, "expandable_segments:True") or contains(options, "cudaMallocAsync")) and "set" or nil
    -- Blocks that are split stay until all of their parts are free: emptying the cache does not give them back.
    local split = f.allocator.given and f.allocator.unusable.peak or nil
    local split_text = ""
    if split and at_least(split, t.min_bytes) then
      split_text = " Blocks that are split, and cannot be given back, held up to " .. in_words(split, "bytes") .. "."
    end
    return { split_text = split_text, source = source, reason = reason, reserved = reserved, tensors = tensors, share = part }
  end,

  tests = {
    { name = "half of 40 GB",
      edges = { ["allocator.reserved.peak"] = 2.86e10 }, facts = { allocator = { given = true, tensors = { peak = 2e10 }, reserved = { peak = 4e10 } } },
      expect = { split_text = "", share = 0.5, reserved = 4e10, tensors = 2e10 } },
    { name = "most of it in blocks that are split",
      facts = { allocator = { given = true, tensors = { peak = 2e10 }, reserved = { peak = 4e10 }, unusable = { peak = 1.24e10 } } },
      expect = { split_text = " Blocks that are split, and cannot be given back, held up to 12.4 GB." } },
    { name = "half of 40 GB, by the profiler",
      facts = { allocator = { given = false }, memory = { reserved_peak = 4e10, allocated_peak = 2e10 } },
      expect = { share = 0.5, source = "PyTorch's profile of memory" } },
    { name = "segments grow already",
      facts = { allocator = { given = true, tensors = { peak = 2e10 }, reserved = { peak = 4e10 } }, environment = { allocator = "expandable_segments:True" } },
      expect = { share = 0.5, reason = "set" } },
    { name = "near miss: a little more", facts = { allocator = { given = true, tensors = { peak = 3.8e10 }, reserved = { peak = 4e10 } } }, expect = "silent" },
    { name = "near miss: half of a few MB",
      edges = { ["allocator.reserved.peak"] = 1e9 }, facts = { allocator = { given = true, tensors = { peak = 2e6 }, reserved = { peak = 4e6 } } }, expect = "silent" },
    { name = "no summary", facts = { allocator = { given = false } }, expect = "not_applicable" },
  },
}
