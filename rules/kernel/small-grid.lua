-- Kernels with fewer blocks than the GPU has SMs, with nothing running beside them.
-- A block runs on one SM, so the other SMs do nothing. Kernels of a few microseconds are small by nature; only the time they
-- take counts here, and only grids that use less than half of the GPU: few SMs, or few warps on each. Where each of them
-- runs for long, less of the time is worth a finding.
return {
  id        = "kernel/small-grid",
  title     = "Give each kernel enough blocks to fill the GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 55,
  explains  = { "kernel/hot", "kernel/low-sm-active", "kernel/low-concurrency", "step/low-mfu" },
  knowledge = { "K-F2", "K-H2", "K-L11", "K-G1" },
  effort    = "code",

  loss           = "kernel.small_grid",
  applies        = "share",
  not_applicable = "no kernel has fewer blocks than the GPU has SMs",
  evidence       = { "fill", "sms", blocks = "median_blocks", compute_share = "share" },
  needs          = { "kernel.small_grid.rows", "kernel.small_grid.mean" },
  optional       = { "kernel.small_grid.median_threads", "run.serves" },
  thresholds     = { "min_share", "max_fill", "min_short_share", "long_kernel", "few_threads" },

  symptom = "Kernels with too few blocks take {share:pct} of the time: {blocks:count} blocks{threads_text:text}{median_text:text} for {sms:count} SMs.",
  cause   = "SMs without a block do nothing while such a kernel runs: a block runs on one SM, and no other kernel uses the rest.",
  fixes   = {
    { action = "Process more data at once: use a larger batch, or several inputs in one call",
      snippet = "loader = DataLoader(dataset, batch_size=4 * batch_size)", language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Process more data at once: use a larger batch, or several inputs in one call", ["for"] = { "pytorch", "inference" } },
    { reason = "serves", action = "In a model server, join requests into batches: dynamic batching",
      snippet = "echo 'dynamic_batching { max_queue_delay_microseconds: 500 }' >> model_repository/MODEL/config.pbtxt     # Triton Inference Server",
      language = "bash", ["for"] = { "inference" } },
    { reason = "threads", action = "Give blocks 128 to 256 threads, and launch at least two blocks per SM, with a grid-stride loop",
      snippet = "const int blocks = min((n + 255) / 256, 32 * sms);   // sms: cudaDevAttrMultiProcessorCount\n" ..
                "kernel<<<blocks, 256, 0, stream>>>(data, n);         // for (i = tid; i < n; i += gridDim.x * blockDim.x)",
      language = "cpp", ["for"] = { "c++" } },
    { reason = "!threads", action = "In your own kernels, launch more blocks with less work each: at least two per SM, with a grid-stride loop",
      snippet = "const int blocks = min((n + 255) / 256, 32 * sms);   // sms: cudaDevAttrMultiProcessorCount\n" ..
                "kernel<<<blocks, 256, 0, stream>>>(data, n);         // for (i = tid; i < n; i += gridDim.x * blockDim.x)",
      language = "cpp", ["for"] = { "c++" } },
    { action = "Launch more blocks with less work each: at least two per SM, with a grid-stride loop",
      snippet = "for i in range(cuda.grid(1), n, cuda.gridsize(1)):   # in the kernel; then: kernel[4 * sms, 256](x)\n    y[i] = 2 * x[i]",
      language = "python", ["for"] = { "numba" } },
    { action = "If the program launches the kernel for one item after the other, give one launch many items: a block, or a few, for each", ["for"] = { "c++", "numba" } },
    { action = "Run independent small kernels concurrently on several streams" },
  },
  false_positives = "Problems that are small by nature, such as decoding one token for one user, where latency counts.",
  references = { "cuda-best-practices/occupancy", "nvidia/gpu-background", "cuda-programming/streams" },

  detect = function(f, t, e)
    if not at_least(f.kernel.small_grid.mean, t.long_kernel) and not at_least(e.share, t.min_short_share) then return nil end
    e.rows = top(f.kernel.small_grid.rows, "time", 5)
    local threads = f.kernel.small_grid.median_threads
    local few = threads and at_most(threads, t.few_threads)
    e.reason = few and "threads" or "blocks"
    if f.run.serves then e.ways = { { reason = "serves" } } end
    e.threads_text = few and " of " .. in_words(math.floor(threads + 0.5), "count") .. (threads == 1 and " thread" or " threads") or ""
    e.median_text = sum(e.rows, "count") > 1 and " (median)" or ""
    return e
  end,

  saving = { confidence = 0.5, basis = "these kernels get shorter with more SMs, until memory is the limit" },

  tests = {
    { name = "a kernel of two blocks on 108 SMs takes half the time",
      edges = { ["kernel.small_grid.fill"] = 0.45, ["kernel.small_grid.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 },
                kernel = { small_grid = { share = 0.9, fill = 0.0185, mean = 1e8, median_blocks = 2, sms = 108, lost = 5e8, remedy = true,
                                          rows = { { name = "saxpy", blocks = 2, count = 5, time = 5e8 } } } } },
      expect = { share = 0.5, fill = 0.0185, blocks = 2, sms = 108, median_text = " (median)", threads_text = "", rows = { { name = "saxpy", blocks = 2 } } },
      saving = { claims = 5e8 } },
    { name = "one launch of one thread",
      edges = { ["kernel.small_grid.median_threads"] = 32 },
      facts = { window = { device_time = 1e9 },
                kernel = { small_grid = { share = 0.9, fill = 0.001, mean = 9e8, median_blocks = 1, median_threads = 30, sms = 28, lost = 8e8, remedy = true,
                                          rows = { { name = "reduce", blocks = 1, count = 1, time = 9e8 } } } } },
      expect = { reason = "threads", threads_text = " of 30 threads", median_text = "" } },
    { name = "a model server decodes for one user",
      facts = { window = { device_time = 1e9 }, run = { serves = true },
                kernel = { small_grid = { share = 0.9, fill = 0.05, mean = 9e8, median_blocks = 4, median_threads = 256, sms = 108, lost = 8e8, remedy = true,
                                          rows = { { name = "gemv", blocks = 4, count = 1, time = 9e8 } } } } },
      expect = { reason = "blocks", ways = { { reason = "serves" } } } },
    { name = "40 threads fill more than a warp",
      facts = { window = { device_time = 1e9 },
                kernel = { small_grid = { share = 0.9, fill = 0.001, mean = 9e8, median_blocks = 1, median_threads = 40, sms = 28, lost = 8e8, remedy = true,
                                          rows = { { name = "reduce", blocks = 1, count = 1, time = 9e8 } } } } },
      expect = { reason = "blocks", threads_text = "" } },
    { name = "a third of the SMs at work: less to win",
      facts = { window = { device_time = 1e9 },
                kernel = { small_grid = { share = 0.3, fill = 0.36, mean = 4e6, median_blocks = 48, sms = 132, lost = 2e8, remedy = true,
                                          rows = { { name = "reduce", blocks = 48, count = 50, time = 2e8 } } } } },
      expect = { share = 0.2, blocks = 48 },
      saving = { claims = 2e8 } },
    { name = "tiny kernels that add up",
      edges = { ["kernel.small_grid.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 },
                kernel = { small_grid = { share = 0.1, fill = 0.05, mean = 1e4, median_blocks = 6, sms = 108, lost = 9e7, remedy = true,
                                          rows = { { name = "fill", blocks = 6, count = 9000, time = 9e7 } } } } },
      expect = { share = 0.09 } },
    { name = "little time, but each kernel runs for long on a few SMs",
      edges = { ["kernel.small_grid.mean"] = 1e5 },
      facts = { window = { device_time = 1e9 },
                kernel = { small_grid = { share = 0.03, fill = 0.05, mean = 4e5, median_blocks = 6, sms = 108, lost = 3e7, remedy = true,
                                          rows = { { name = "norm", blocks = 6, count = 75, time = 3e7 } } } } },
      expect = { share = 0.03 } },
    { name = "near miss: 96 blocks on 108 SMs, as tuned matrix kernels have them",
      facts = { window = { device_time = 1e9 },
                kernel = { small_grid = { share = 0.6, fill = 0.89, mean = 1e7, median_blocks = 96, sms = 108, lost = 5e8, remedy = true,
                                          rows = { { name = "gemm", blocks = 96, count = 50, time = 5e8 } } } } },
      expect = "silent" },
    { name = "near miss: tiny kernels of little time",
      facts = { window = { device_time = 1e9 },
                kernel = { small_grid = { share = 0.03, fill = 0.05, mean = 3e4, median_blocks = 6, sms = 108, lost = 3e7, remedy = true,
                                          rows = { { name = "fill", blocks = 6, count = 900, time = 3e7 } } } } },
      expect = "silent" },
    { name = "all grids are wide",
      facts = { window = { device_time = 1e9 },
                kernel = { small_grid = { share = 0, fill = 0, mean = 0, median_blocks = 0, sms = 108, lost = 0, remedy = true, rows = {} } } },
      expect = "not_applicable" },
    { name = "the number of SMs is not known", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
