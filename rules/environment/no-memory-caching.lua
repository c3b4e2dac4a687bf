-- With PYTORCH_NO_CUDA_MEMORY_CACHING=1 every tensor is a cudaMalloc and a cudaFree, each of which may wait for the
-- device.
return {
  id        = "environment/no-memory-caching",
  title     = "Turn the caching allocator back on",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  topic     = "switch",
  priority  = 92,
  explains  = { "memory/alloc-in-loop", "memory/cache-emptied", "sync/host-busy-wait", "host/cpu-bound" },
  knowledge = { "K-B7", "K-H14" },

  needs      = { "window.device_time", "memory.alloc.per_step", "memory.alloc.lost", "memory.alloc.remedy",
                 "environment.recorded" },
  optional   = { "environment.no_memory_caching" },
  thresholds = { "min_share", "min_per_step" },

  symptom = "The caching allocator is off (PYTORCH_NO_CUDA_MEMORY_CACHING={value:text}). The program allocates or frees memory {count:count} times {per:text}. Around these calls, the GPU computes nothing for {share:pct} of the time.",
  cause   = "A setting for memory debugging was left on.",
  fixes   = {
    { action  = "Unset it",
      snippet = "unset PYTORCH_NO_CUDA_MEMORY_CACHING",
      language = "bash", ["for"] = { "pytorch" } },
  },
  false_positives = "A search for invalid accesses with compute-sanitizer.",
  references = { "pytorch/memory-management" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.no_memory_caching ~= nil, "PYTORCH_NO_CUDA_MEMORY_CACHING is not set"
  end,

  detect = function(f, t)
    if f.environment.no_memory_caching == "0" then return nil end
    local lost = share(f.memory.alloc.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) or not at_least(f.memory.alloc.per_step, t.min_per_step) then return nil end
    return { share = lost, count = f.memory.alloc.per_step, value = f.environment.no_memory_caching }
  end,

  saving = { claims = "memory.alloc.lost", remedy = "memory.alloc.remedy", confidence = 0.9,
             basis = "allocations are served from the cache" },

  tests = {
    { name = "every tensor is allocated",
      edges = { ["memory.alloc.lost"] = 2e7, ["memory.alloc.per_step"] = 1 },
      facts = { window = { device_time = 1e9 }, memory = { alloc = { per_step = 900, lost = 5e8, remedy = true } }, environment = { recorded = true, no_memory_caching = "1" } },
      expect = { share = 0.5, count = 900 },
      saving = { claims = 5e8 } },
    { name = "near miss: set to 0",
      facts = { window = { device_time = 1e9 }, memory = { alloc = { per_step = 900, lost = 5e8, remedy = true } }, environment = { recorded = true, no_memory_caching = "0" } },
      expect = "silent" },
    { name = "near miss: allocations cost nothing",
      facts = { window = { device_time = 1e9 }, memory = { alloc = { per_step = 900, lost = 1e6, remedy = true } }, environment = { recorded = true, no_memory_caching = "1" } },
      expect = "silent" },
    { name = "PYTORCH_NO_CUDA_MEMORY_CACHING is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "calls were not recorded",
      facts = { environment = { recorded = true, no_memory_caching = "1" } },
      expect = "cannot_tell" },
  },
}
