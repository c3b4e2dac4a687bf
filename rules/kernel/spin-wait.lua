-- Kernels that hold the GPU until a time has passed or a flag is set, and compute nothing: delays of benchmarks that were
-- left in, and kernels that poll. The GPU looks busy meanwhile.
return {
  id        = "kernel/spin-wait",
  title     = "Remove kernels that only wait",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 74,
  explains  = { "kernel/hot", "kernel/low-concurrency", "step/low-mfu" },
  knowledge = { "K-G1" },
  effort    = "code",

  loss           = "kernel.waiting",
  not_applicable = "no kernel only waits",
  evidence       = { "count", compute_share = "share" },
  thresholds     = { "min_share" },

  symptom = "Kernels that only wait take {share:pct} of the time: {count:count} {per:text}.",
  cause   = "They occupy the GPU until a time has passed or a flag is set, and compute nothing. Monitors show a busy GPU meanwhile.",
  fixes   = {
    { action = "Remove delays that tests and benchmarks left in, such as torch.cuda._sleep()", ["for"] = { "pytorch" } },
    { action = "Remove delays that tests and benchmarks left in", ["for"] = { "c++" } },
    { action = "Let a stream wait for an event or a value instead of a kernel that polls a flag",
      snippet = "cudaStreamWaitEvent(stream, ready, 0);                                  // or, for a flag in memory:\n" ..
                "cuStreamWaitValue32(stream, address, 1, CU_STREAM_WAIT_VALUE_GEQ);",
      language = "cpp", ["for"] = { "c++" } },
  },
  false_positives = "Tests that hold the GPU on purpose, to let the host get ahead.",
  references = { "cuda-programming/streams" },

  saving = { confidence = 0.7, basis = "these kernels are gone" },

  tests = {
    { name = "delays take a third of each step",
      edges = { ["kernel.waiting.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 },
                kernel = { waiting = { share = 0.35, count = 2, lost = 3.3e8, remedy = true } } },
      expect = { share = 0.33, count = 2, compute_share = 0.35 },
      saving = { claims = 3.3e8 } },
    { name = "near miss: a short delay, once",
      facts = { window = { device_time = 1e9 }, kernel = { waiting = { share = 0.01, count = 1, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "no kernel waits",
      facts = { window = { device_time = 1e9 }, kernel = { waiting = { share = 0, count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
