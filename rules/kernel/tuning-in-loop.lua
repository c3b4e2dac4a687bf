-- A compiler tunes kernels while the program works: it runs each candidate many times, and clears a buffer as large as the
-- cache before each run. Lengths that change start the search anew, since they belong to its key.
return {
  id        = "kernel/tuning-in-loop",
  title     = "Move the tuning of kernels out of the loop",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 93,
  explains  = { "memory/clearing", "host/jit-in-loop", "host/cpu-bound", "sync/device-sync-in-loop", "kernel/hot" },
  knowledge = { "K-A2" },

  needs_loop     = true,
  loss           = "kernel.tuning",
  not_applicable = "no kernels are run behind memsets of one large size",
  evidence       = { "count", "per_step", "runs" },
  thresholds     = { "min_share" },

  symptom = "Kernels are tuned in the loop ({count:count} times in the window, {runs:count} runs each). This takes {share:pct} of the time.",
  cause   = "Before each run, a buffer as large as the cache is cleared, as tuners do to measure it alone. Sizes that change from batch to batch start the search again.",
  fixes   = {
    { action  = "Keep what changes from batch to batch out of the key of the tuner, or round it up to few values",
      snippet = "@triton.autotune(configs=configs, key=[\"hidden\"])     # not the number of tokens\n@triton.jit\ndef kernel(x, y, tokens, hidden, BLOCK: tl.constexpr): ...",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Find out which kernel is tuned, and when",
      snippet = "export TRITON_PRINT_AUTOTUNING=1", language = "bash", ["for"] = { "pytorch" } },
    { action = "Run each size once before the loop" },
  },
  false_positives = "Programs that measure kernels on purpose. Buffers into which the kernel behind them adds.",
  references = { "pytorch/compile" },

  saving = { confidence = 0.7, basis = "no candidates are run in the loop" },

  tests = {
    { name = "a search in every fourth step",
      edges = { ["kernel.tuning.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, kernel = { tuning = { count = 4, per_step = 0.25, runs = 24, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, count = 4, runs = 24 }, saving = { claims = 1e8, confidence = 0.7 } },
    { name = "near miss: a short search",
      facts = { window = { device_time = 1e9 }, kernel = { tuning = { count = 1, per_step = 0.1, runs = 24, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "nothing is tuned",
      facts = { window = { device_time = 1e9 }, kernel = { tuning = { count = 0, per_step = 0, runs = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
