-- cudaMallocAsync takes memory from a pool, which is cheap; but the pool gives unused memory back at each
-- synchronization unless its release threshold is raised, and then allocations go to the driver again.
return {
  id        = "memory/pool-trimmed",
  title     = "Let the stream-ordered allocator keep its memory",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 80,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-B7", "K-H14" },

  needs_loop = true,
  loss       = "calls.pool",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "The stream-ordered allocator blocks the launching thread ({count:count} calls {per:text}). The GPU waits {share:pct} of the time for that.",
  cause   = "At each synchronization, the pool returns free memory to the system: its release threshold is 0 by default.",
  fixes   = {
    { action  = "Let the pool keep its memory",
      snippet = [[cudaMemPool_t pool;
cudaDeviceGetDefaultMemPool(&pool, device);
uint64_t keep = UINT64_MAX;
cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Synchronize less often: synchronization trims the pool" },
  },
  false_positives = "Pools that are trimmed on purpose, for another process.",
  references = { "cuda-programming/stream-ordered-allocator" },

  saving = { confidence = 0.65, basis = "allocations come from the pool" },

  tests = {
    { name = "allocations that go to the driver",
      edges = { ["calls.pool.lost"] = 2e7, ["calls.pool.per_step"] = 4 },
      facts = { window = { device_time = 1e9 }, calls = { pool = { per_step = 40, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 40 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: cheap allocations",
      facts = { window = { device_time = 1e9 }, calls = { pool = { per_step = 40, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: few of them",
      facts = { window = { device_time = 1e9 }, calls = { pool = { per_step = 2, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "the stream-ordered allocator is not used in the loop",
      facts = { window = { device_time = 1e9 }, calls = { pool = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
