-- cudaMalloc, cudaFree and their pinned-host variants in the steady state. They take tens to hundreds of microseconds,
-- and cudaFree and pinned allocations wait for the GPU, so that the queue runs empty. A caching or stream-ordered
-- allocator asks the driver once and recycles. Caches fill in the first steps: calls of a loop go on to its end.
return {
  id        = "memory/alloc-in-loop",
  title     = "Allocate before the loop and reuse memory",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 80,
  explains  = { "host/cpu-bound", "launch/host-op-overhead", "transfer/exposed-copy" },
  knowledge = { "K-B7", "K-H14" },

  loss           = "memory.alloc",
  evidence       = { "count", "per_step", "time", "late_share", call = "name" },
  optional       = { "environment.allocator", "window.supports_verdict", "memory.alloc.recycled",
                     "steps.count" },
  thresholds     = { "min_share", "min_per_step", "min_late_share", "min_count_of_pass" },

  symptom = "The program allocates or frees memory {often:text}, mostly in {call:text}. Around these calls, the GPU computes nothing for {share:pct} of the time.",
  cause   = "Each call requests memory from the driver or returns it, which is slow and may wait until the GPU has finished.",
  fixes   = {
    { action  = "In PyTorch, remove calls that empty the caching allocator in the loop, and settings that turn it off",
      snippet = [[# remove torch.cuda.empty_cache() from the loop
unset PYTORCH_NO_CUDA_MEMORY_CACHING]],
      language = "bash", ["for"] = { "pytorch", "nvidia" } },
    { reason  = "!set", action = "Where shapes vary in PyTorch, let memory segments grow (PyTorch 2.1 and later)",
      snippet = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True   # PyTorch 2.9 and later: PYTORCH_ALLOC_CONF",
      language = "bash", ["for"] = { "pytorch", "nvidia" } },
    { action  = "In PyTorch, remove calls that empty the caching allocator in the loop, and settings that turn it off",
      snippet = [[# remove torch.cuda.empty_cache() from the loop
unset PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_NO_HIP_MEMORY_CACHING]],
      language = "bash", ["for"] = { "pytorch", "amd" } },
    { action = "Let JAX keep the memory that it has: the platform allocator asks the driver for each array",
      snippet = "unset XLA_PYTHON_CLIENT_ALLOCATOR", language = "bash", ["for"] = { "jax" } },
    { action  = "Give RAPIDS a memory pool: without one, each table asks the driver",
      snippet = "import rmm\nrmm.reinitialize(pool_allocator=True)      # first thing in each process", language = "python", ["for"] = { "rapids" } },
    { action  = "Allocate once before the loop and reuse the buffers" },
    { action  = "In CUDA C++, allocate in stream order from a pool that keeps its memory",
      snippet = [[cudaMemPool_t pool;
cudaDeviceGetDefaultMemPool(&pool, device);
uint64_t keep = UINT64_MAX;
cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
cudaMallocAsync(&data, bytes, stream);      // ... cudaFreeAsync(data, stream);]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Pin host buffers once; pinning for each copy costs more than the copy" },
  },
  false_positives = "Caches that still grow in the first steps.",
  references = { "cuda-best-practices/allocation", "cuda-programming/stream-ordered-allocator", "pytorch/memory-management" },

  applies = function(f, t)
    -- A script without a loop that frees and allocates again, between its kernels, could reuse the memory as well.
    if f.window.supports_verdict == false and not (f.memory.alloc.recycled and at_least(f.memory.alloc.count, t.min_count_of_pass)) then
      return false, "too little of a loop was recorded: a start, a single pass or a few steps"
    end
    return f.memory.alloc.count > 0, "the window has no allocations or frees"
  end,

  detect = function(f, t, e)
    -- Segments that already grow, and an allocator of the driver, leave nothing for that option to do.
    local options = f.environment.allocator or ""
    local reason = (contains(options, "expandable_segments:True") or contains(options, "cudaMallocAsync")) and "set" or nil
    e.reason = reason
    -- Iterations that were inferred may be parts of the program's own.
    if not f.steps.count then
      e.often = in_words(e.count, "count") .. " times in the window"
    else
      e.often = e.per_step < 1 and in_words(e.count, "count") .. " times in the loop" or in_words(e.per_step, "num") .. " times per step"
    end
    return e
  end,

  saving = { confidence = 0.85, basis = "these calls are gone" },

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "eight buffers are allocated and freed a step",
      edges = { ["memory.alloc.late_share"] = 0.2, ["memory.alloc.lost"] = 1e6 },
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 320, per_step = 16, time = 1.2e8, late_share = 0.5, name = "cudaFree", lost = 1e8, remedy = true } } },
      expect = { share = 0.1, count = 320, per_step = 16, time = 1.2e8, late_share = 0.5, call = "cudaFree" },
      saving = { claims = 1e8, confidence = 0.85 } },
    { name = "once in two of the iterations that were inferred",
      edges = { ["memory.alloc.per_step"] = 0.1 },
      facts = { window = { device_time = 1e9 }, steps = { count = 240 },
                memory = { alloc = { count = 120, per_step = 0.5, time = 1.2e8, late_share = 0.5, name = "cudaFree", lost = 1e8, remedy = true } } },
      expect = { share = 0.1, often = "120 times in the loop" } },
    { name = "of steps that are known, it is told how often each allocates",
      facts = { window = { device_time = 1e9 }, steps = { count = 20 },
                memory = { alloc = { count = 320, per_step = 16, time = 1.2e8, late_share = 0.5, name = "cudaFree", lost = 1e8, remedy = true } } },
      expect = { share = 0.1, often = "16 times per step" } },
    { name = "200 processes that allocate once each are no loop of 200 allocations",
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 200, per_step = 200, time = 1.2e8, late_share = 0.5, name = "cudaMalloc", lost = 1e8, remedy = true } } },
      expect = { share = 0.1, often = "200 times in the window" } },
    { name = "a script without a loop frees and allocates between its kernels",
      edges = { ["memory.alloc.count"] = 50 },
      facts = { window = { device_time = 1e9, supports_verdict = false },
                memory = { alloc = { count = 130, per_step = 130, time = 1.2e8, late_share = 0.5, recycled = true, name = "cudaFree",
                                     lost = 1e8, remedy = true } } },
      expect = { share = 0.1, count = 130 } },
    { name = "the first pass of a model allocates as it goes, and frees nothing",
      facts = { window = { device_time = 1e9, supports_verdict = false },
                memory = { alloc = { count = 130, per_step = 130, time = 1.2e8, late_share = 0.5, recycled = false, name = "cudaMalloc",
                                     lost = 1e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "segments grow already",
      facts = { window = { device_time = 1e9 }, environment = { allocator = "expandable_segments:True" },
                memory = { alloc = { count = 320, per_step = 16, time = 1.2e8, late_share = 0.5, name = "cudaFree", lost = 1e8, remedy = true } } },
      expect = { share = 0.1, reason = "set" } },
    { name = "near miss: the cache still grows now and then",
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 4, per_step = 0, time = 2e7, late_share = 0.5, name = "cudaMalloc", lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the cache fills in the first steps of the window",
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 17, per_step = 17, time = 2e7, late_share = 0.06, name = "cudaMalloc", lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: behind a full queue",
      facts = { window = { device_time = 1e9 },
                memory = { alloc = { count = 320, per_step = 16, time = 3e7, late_share = 0.5, name = "cudaMalloc", lost = 5e5, remedy = true } } },
      expect = "silent" },
    { name = "none in the window", facts = { window = { device_time = 1e9 }, memory = { alloc = { count = 0 } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
