-- Copies to or from __constant__ and __device__ symbols hold the host, like other copies from pageable memory, and order
-- all work of the stream.
return {
  id        = "transfer/symbol-copy",
  title     = "Pass constants as kernel arguments",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 74,
  explains  = { "transfer/blocking-copy", "sync/item-in-loop" },
  knowledge = { "K-H6", "K-H12" },

  needs_loop = true,
  loss       = "calls.symbol_copy",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "Copies to or from device symbols block the launching thread ({count:count} {per:text}). The GPU waits {share:pct} of the time for that.",
  cause   = "Small parameters are copied to __constant__ or __device__ variables.",
  fixes   = {
    { action  = "Pass them as arguments of the kernel (4,096 bytes; 32,764 bytes from CUDA 12.1 on, on Volta and newer)",
      snippet = "__global__ void step(const __grid_constant__ Params p);",
      language = "cpp", ["for"] = { "c++" } },
    { action = "Copy asynchronously from pinned memory, once for several launches" },
  },
  false_positives = "Tables that change rarely.",
  references = { "cuda-best-practices/transfers" },

  saving = { confidence = 0.6, basis = "no copies of constants" },

  tests = {
    { name = "a constant before each launch",
      edges = { ["calls.symbol_copy.lost"] = 2e7, ["calls.symbol_copy.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, calls = { symbol_copy = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.6 } },
    { name = "near miss: beside the GPU's work",
      facts = { window = { device_time = 1e9 }, calls = { symbol_copy = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, calls = { symbol_copy = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no symbols are copied in the loop",
      facts = { window = { device_time = 1e9 }, calls = { symbol_copy = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
