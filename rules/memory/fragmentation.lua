-- A caching allocator whose memory is reserved but in pieces of the wrong size gives blocks back to the driver and asks
-- for others: cudaFree and cudaMalloc in the steady state, at a level close to the capacity that does not grow. The
-- allocator's own figures (reserved against allocated) are the proof, where a framework's trace holds them; a GPU trace shows
-- only this trail of retries.
return {
  id        = "memory/fragmentation",
  title     = "Reduce memory fragmentation, so that the allocator stops asking the driver",
  status    = "experimental",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  risk      = "out-of-memory",
  priority  = 82,
  explains  = { "memory/alloc-in-loop", "memory/near-capacity" },
  knowledge = { "K-C4" },

  needs      = { "window.device_time", "memory.alloc.count", "memory.alloc.per_step", "memory.alloc.name", "memory.alloc.lost",
                 "memory.alloc.remedy", "memory.peak", "memory.capacity" },
  optional   = { "memory.growth_steps", "memory.reserved_peak", "memory.allocated_peak", "environment.allocator" },
  thresholds = { "min_share", "min_per_step", "min_used", "max_growth_steps", "min_unused" },

  symptom = "{used:pct} of the memory is in use, and memory is still allocated and freed {per_step:num} times {per:text} (mostly {call:text}). Around these calls, the GPU computes nothing for {share:pct} of the time{pool_text:text}.",
  cause   = "The allocator holds blocks that do not fit the next request, so it returns them to the driver and asks for others.",
  fixes   = {
    { reason = "!set", action = "Let memory segments grow instead of cutting them into fixed pieces (PyTorch 2.1 and later)",
      snippet = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True   # PyTorch 2.9 and later: PYTORCH_ALLOC_CONF", language = "bash", ["for"] = { "pytorch", "nvidia" } },
    { action  = "Confirm it with the allocator's own counters: retries, and reserved far above allocated",
      snippet = [[stats = torch.cuda.memory_stats()
print(stats["num_alloc_retries"], stats["reserved_bytes.all.peak"], stats["allocated_bytes.all.peak"])]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Use few sizes: pad batches to a handful of lengths, and let the first step use the largest" },
    { action = "If allocated is as high as reserved, memory is simply short: use a smaller micro-batch, checkpointing or sharding" },
  },
  false_positives = "Code that allocates directly from the driver on a GPU that happens to be full (memory/alloc-in-loop).",
  references = { "pytorch/memory-management", "pytorch/memory-snapshot" },

  applies = function(f) return f.memory.alloc.count > 0,
    "nothing is allocated or freed in the window" end,

  detect = function(f, t)
    local used = share(f.memory.peak, f.memory.capacity)
    if not at_least(used, t.min_used) then return nil end
    if not at_least(f.memory.alloc.per_step, t.min_per_step) then return nil end
    local call = f.memory.alloc.name
    local device = matches(call, "cudaMalloc*") or matches(call, "cudaFree*") or matches(call, "cuMem*") or
                   matches(call, "hipMalloc*") or matches(call, "hipFree*")
    if not device or matches(call, "*Host*") then return nil end
    if f.memory.growth_steps and not at_most(f.memory.growth_steps, t.max_growth_steps) then return nil end
    local lost = share(f.memory.alloc.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    local reserved, allocated = f.memory.reserved_peak, f.memory.allocated_peak
    local pool_text = ""
    if reserved and allocated then
      -- A pool that is full of tensors is short of memory, not fragmented.
      if not at_least(share(reserved - allocated, reserved), t.min_unused) then return nil end
      pool_text = "; of " .. in_words(reserved, "bytes") .. " that the allocator holds, tensors take " ..
                  in_words(allocated, "bytes") .. " at most"
    end
    -- Segments that already grow, and an allocator of the driver, leave nothing for that option to do.
    local options = f.environment.allocator or ""
    local reason = (contains(options, "expandable_segments:True") or contains(options, "cudaMallocAsync")) and "set" or nil
    return { reason = reason, share = lost, used = used, pool_text = pool_text, peak = f.memory.peak, capacity = f.memory.capacity, per_step = f.memory.alloc.per_step,
             call = call }
  end,

  saving = { claims = "memory.alloc.lost", remedy = "memory.alloc.remedy", confidence = 0.5,
             basis = "the allocator does not have to retry" },

  tests = {
    { name = "retries at the edge of the memory",
      edges = { ["memory.alloc.lost"] = 1e7, ["memory.alloc.per_step"] = 1, ["memory.capacity"] = 8.67e10, ["memory.growth_steps"] = 0.6 },
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 100, per_step = 5, name = "cudaFree", lost = 1.5e8, remedy = true }, peak = 7.8e10,
                           capacity = 8e10, growth_steps = 0.3 } },
      expect = { share = 0.15, used = 0.975, peak = 7.8e10, capacity = 8e10, per_step = 5, call = "cudaFree",
                 pool_text = "" },
      saving = { claims = 1.5e8, confidence = 0.5 } },
    { name = "the allocator's own figures prove it",
      edges = { ["memory.allocated_peak"] = 6.63e10 },
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 100, per_step = 5, name = "cudaFree", lost = 1.5e8, remedy = true }, peak = 7.8e10,
                           capacity = 8e10, reserved_peak = 7.8e10, allocated_peak = 5.2e10 } },
      expect = { pool_text = "; of 78.0 GB that the allocator holds, tensors take 52.0 GB at most" } },
    { name = "segments grow already: the option is not recommended",
      facts = { window = { device_time = 1e9 }, environment = { allocator = "expandable_segments:True" },
                memory = { alloc = { count = 100, per_step = 5, name = "cudaFree", lost = 1.5e8, remedy = true }, peak = 7.8e10,
                           capacity = 8e10 } },
      expect = { share = 0.15, reason = "set" } },
    { name = "near miss: the pool is full of tensors, so memory is simply short",
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 100, per_step = 5, name = "cudaFree", lost = 1.5e8, remedy = true }, peak = 7.8e10,
                           capacity = 8e10, reserved_peak = 7.8e10, allocated_peak = 7.5e10 } },
      expect = "silent" },
    { name = "near miss: allocations in the loop, and half the memory free",
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 100, per_step = 5, name = "cudaFree", lost = 1.5e8, remedy = true }, peak = 4e10,
                           capacity = 8e10 } },
      expect = "silent" },
    { name = "near miss: the level grows each step, which is a leak",
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 100, per_step = 5, name = "cudaMalloc", lost = 1.5e8, remedy = true }, peak = 7.8e10,
                           capacity = 8e10, growth_steps = 1 } },
      expect = "silent" },
    { name = "near miss: pinned host memory",
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 100, per_step = 5, name = "cudaMallocHost", lost = 1.5e8, remedy = true },
                           peak = 7.8e10, capacity = 8e10 } },
      expect = "silent" },
    { name = "nothing is allocated", facts = { window = { device_time = 1e9 }, memory = { alloc = { count = 0 } } },
      expect = "not_applicable" },
    { name = "memory events were not recorded",
      facts = { window = { device_time = 1e9 }, memory = { alloc = { count = 100, per_step = 5, name = "cudaFree", lost = 1.5e8,
                                                                     remedy = true } } },
      expect = "cannot_tell" },
  },
}
