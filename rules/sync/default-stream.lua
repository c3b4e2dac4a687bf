-- A kernel on the legacy default stream waits for all (blocking) streams of its context and they wait for it. Work that
-- was put on several streams to overlap then runs one after the other: kernels, and copies that would run beside them.
-- One stream alone is no problem.
return {
  id        = "sync/default-stream",
  title     = "Keep work off the legacy default stream while other streams are in use",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 60,
  explains  = { "kernel/low-concurrency", "transfer/exposed-copy" },
  knowledge = { "K-H13" },

  loss       = "sync.default_stream",
  evidence   = { "kernels", part = "share", streams = "other_streams" },
  thresholds = { "min_share", "min_kernels", "min_streams" },

  symptom = "Kernels on the legacy default stream ({kernels:count}, {part:pct} of the compute time) make {streams:count} other streams wait. {share:pct} of the time could overlap.",
  cause   = "The legacy default stream waits for every other stream, and every other stream waits for it.",
  fixes   = {
    { action  = "Compile with one default stream per thread, which does not wait for the others",
      snippet = "nvcc --default-stream per-thread ...   # or define CUDA_API_PER_THREAD_DEFAULT_STREAM before the CUDA headers",
      language = "bash", ["for"] = { "c++", "nvidia" } },
    { action  = "Create streams that do not synchronize with it, and order them with events where needed",
      snippet = [[cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
kernel<<<grid, block, 0, stream>>>(...);      // instead of <<<grid, block>>>]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Pass a stream to each library call: cublasSetStream, cufftSetStream, thrust::cuda::par.on(stream)", ["for"] = { "c++" } },
  },
  false_positives = "Kernels that need the results of other streams must wait for them. Check the order before you change it.",
  references = { "cuda-programming/default-stream", "cuda-programming/streams" },

  applies = function(f)
    return f.sync.default_stream.kernels > 0 and f.sync.default_stream.other_streams > 0,
           "no kernels run on the legacy default stream while other streams are in use"
  end,

  saving = { confidence = 0.5,
             basis = "default-stream kernels overlap with the other streams, if nothing needs their order" },

  tests = {
    { name = "one step of five is on the default stream",
      edges = { ["sync.default_stream.kernels"] = 3, ["sync.default_stream.lost"] = 2e7, ["sync.default_stream.other_streams"] = 1 },
      facts = { window = { device_time = 1e9 },
                sync = { default_stream = { kernels = 100, share = 0.2, other_streams = 4, lost = 1.5e8, remedy = true } } },
      expect = { share = 0.15, kernels = 100, part = 0.2, streams = 4 }, saving = { claims = 1.5e8, confidence = 0.5 } },
    { name = "near miss: short kernels on it",
      facts = { window = { device_time = 1e9 },
                sync = { default_stream = { kernels = 100, share = 0.004, other_streams = 4, lost = 3e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one kernel, at the start",
      facts = { window = { device_time = 1e9 },
                sync = { default_stream = { kernels = 1, share = 0.05, other_streams = 4, lost = 4e7, remedy = true } } },
      expect = "silent" },
    { name = "all work is on one stream",
      facts = { window = { device_time = 1e9 }, sync = { default_stream = { kernels = 5000, other_streams = 0 } } },
      expect = "not_applicable" },
    { name = "streams are not known", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
