-- Bursts of frees: a cache of device memory is emptied in the loop (torch.cuda.empty_cache, a trimmed pool) and filled
-- again by the next step. Each free waits for the device.
-- What they free at the end of a block was allocated in it, one by one (memory/alloc-in-loop).
local without_cache = { RAPIDS = true, Numba = true }

return {
  id        = "memory/cache-emptied",
  title     = "Keep the allocator's cache: do not empty it in the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 82,
  explains  = { "memory/alloc-in-loop", "sync/host-busy-wait", "host/cpu-bound" },
  knowledge = { "K-B7", "K-H14" },

  needs_loop = true,
  optional   = { "run.languages", "run.framework", "environment.allocator", "memory.free_burst.retried" },
  loss       = "memory.free_burst",
  evidence   = { count = "per_step" },
  -- Retried: the allocator does so itself where it finds no room (memory/allocator-retries).
  thresholds = { "min_share", "min_count", "max_retried" },

  symptom = "Device memory is returned in bursts ({count:count} {per:text}) and allocated again. Around these calls, the GPU computes nothing for {share:pct} of the time.",
  cause   = "The allocator's cache is emptied, so the next step must ask the driver again.",
  fixes   = {
    { action = "Remove torch.cuda.empty_cache() from the loop: it helps other processes, not this one", ["for"] = { "pytorch" } },
    { action = "Remove free_all_blocks() from the loop: CuPy's memory pool keeps freed blocks for the next arrays",
      snippet = "# not in the loop: cupy.get_default_memory_pool().free_all_blocks()", language = "python", ["for"] = { "cupy" } },
    { reason = "!set", action = "Against fragmentation, let memory segments grow (PyTorch 2.1 and later)",
      snippet = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py",
      language = "bash", ["for"] = { "pytorch", "nvidia" } },
    { action = "If two programs share a GPU, limit each of them (set_per_process_memory_fraction)", ["for"] = { "pytorch" } },
    { action = "Let JAX keep its memory: the allocator that is called platform frees it after each use",
      snippet = "unset XLA_PYTHON_CLIENT_ALLOCATOR", language = "bash", ["for"] = { "jax" } },
  },
  false_positives = "A change of phase, such as from training to evaluation, that needs the memory in other sizes.",
  references = { "pytorch/memory-management" },

  -- The caches are those of Python's frameworks: other programs free what they allocated (memory/alloc-in-loop).
  applies = function(f)
    if without_cache[f.run.framework or ""] then return false, "the framework asks the driver for each array" end
    if f.run.languages and not contains(f.run.languages, "Python") then return false, "no framework with a caching allocator was seen" end
    return f.memory.free_burst.per_step > 0, "memory is not freed in bursts"
  end,

  detect = function(f, t, e)
    -- Segments that already grow, and an allocator of the driver, leave nothing for that option to do.
    local options = f.environment.allocator or ""
    local reason = (contains(options, "expandable_segments:True") or contains(options, "cudaMallocAsync")) and "set" or nil
    e.reason = reason
    return e
  end,

  saving = { confidence = 0.65, basis = "the allocator's cache is kept, and need not be filled again" },

  tests = {
    { name = "the cache is emptied in each step",
      edges = { ["memory.free_burst.lost"] = 2e7, ["memory.free_burst.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "segments grow already",
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { per_step = 10, lost = 6e7, remedy = true } },
                environment = { allocator = "expandable_segments:True" } },
      expect = { share = 0.06, reason = "set" } },
    { name = "near miss: the allocator makes room for a request",
      edges = { ["memory.free_burst.retried"] = 0.5 },
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { per_step = 10, retried = 0.9, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: frees behind a full queue",
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: tables of RAPIDS without a memory pool",
      facts = { window = { device_time = 1e9 }, run = { languages = "Python", framework = "RAPIDS" },
                memory = { free_burst = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = "not_applicable" },
    { name = "near miss: a program without such a cache",
      facts = { window = { device_time = 1e9 }, run = { languages = "C++" }, memory = { free_burst = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = "not_applicable" },
    { name = "no bursts of frees in the loop",
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
