-- Bursts of frees in the middle of a request for memory: the driver had no room, so the caching allocator waited for the
-- GPU, gave back what it had cached, and asked again. The program does not empty the cache (memory/cache-emptied).
local without_cache = { RAPIDS = true, Numba = true }

return {
  id        = "memory/allocator-retries",
  title     = "Leave the allocator room: it empties its cache to serve requests",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "flag",
  priority  = 83,
  risk      = "out-of-memory",
  explains  = { "memory/alloc-in-loop", "memory/cache-emptied", "memory/fragmentation", "sync/host-busy-wait", "host/cpu-bound" },
  knowledge = { "K-B7", "K-C4" },

  needs_loop     = true,
  optional       = { "run.languages", "run.framework", "environment.allocator" },
  loss           = "memory.free_burst",
  not_applicable = "memory is not freed in bursts",
  evidence       = { "count", retried = "retried" },
  thresholds     = { "min_share", "min_retried" },

  symptom = "In the middle of a request, the allocator returns its cached memory to the driver and allocates again ({count:count} times). Around these calls, the GPU computes nothing for {share:pct} of the time.",
  cause   = "The memory is nearly full or fragmented. When the driver refuses a request, the allocator waits for the GPU, frees all cached blocks, and asks again. Later requests must then be allocated again.",
  fixes   = {
    { reason = "!set", action = "Against fragmentation, let memory segments grow (PyTorch 2.1 and later)",
      snippet = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py",
      language = "bash", ["for"] = { "pytorch", "nvidia" } },
    { action  = "Make sure that these are retries of the allocator: the counter grows with each",
      snippet = 'print(torch.cuda.memory_stats()["num_alloc_retries"])', language = "python", ["for"] = { "pytorch" } },
    { action = "Pad inputs to a few lengths, so that freed blocks fit the next batch" },
    { action = "Use less memory: a smaller micro-batch, or activation checkpointing" },
    { action = "If another program uses the same GPU, leave each of them its share of the memory" },
  },
  false_positives = "A program that empties the cache right before it allocates.",
  references = { "pytorch/memory-management" },

  applies = function(f)
    if without_cache[f.run.framework or ""] then return false, "the framework asks the driver for each array" end
    if f.run.languages and not contains(f.run.languages, "Python") then return false, "no framework with a caching allocator was seen" end
    return f.memory.free_burst.count > 0, "memory is not freed in bursts"
  end,

  detect = function(f, t, e)
    -- Segments that already grow, and an allocator of the driver, leave nothing for that option to do.
    local options = f.environment.allocator or ""
    local reason = (contains(options, "expandable_segments:True") or contains(options, "cudaMallocAsync")) and "set" or nil
    e.reason = reason
    return e
  end,

  saving = { confidence = 0.6, basis = "requests find room, and the cache need not be filled again" },

  tests = {
    { name = "a request in every sixth step finds no room",
      edges = { ["memory.free_burst.lost"] = 2e7, ["memory.free_burst.retried"] = 0.5 },
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { count = 8, retried = 1, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, count = 8 },
      saving = { claims = 2e8, confidence = 0.6 } },
    { name = "segments grow already",
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { count = 8, retried = 1, lost = 2e8, remedy = true } },
                environment = { allocator = "expandable_segments:True" } },
      expect = { share = 0.2, reason = "set" } },
    { name = "near miss: the cache is emptied on purpose",
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { count = 48, retried = 0, lost = 2e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: while the GPU works",
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { count = 8, retried = 1, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: a program without such a cache",
      facts = { window = { device_time = 1e9 }, run = { languages = "C++" }, memory = { free_burst = { count = 8, retried = 1, lost = 2e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "no bursts of frees in the loop",
      facts = { window = { device_time = 1e9 }, memory = { free_burst = { count = 0, retried = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
