-- cuDNN in benchmark mode runs each of its algorithms for a convolution of a new size, and waits for each. With sizes
-- that change from batch to batch it never ends. Recognized by the waits inside one operator, or by kernels that run
-- twice in a row, each waited for.
return {
  id        = "kernel/algorithm-trials",
  title     = "Turn cudnn.benchmark off, or use few sizes",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "flag",
  priority  = 92,
  explains  = { "host/cpu-bound", "launch/bound", "launch/graph-candidate", "memory/alloc-in-loop",
                "memory/cache-emptied", "sync/device-sync-in-loop", "sync/forward-sync", "sync/backward-wait",
                "kernel/slow-convolutions" },
  knowledge = { "K-H12", "K-A5" },

  needs_loop     = true,
  loss           = "convolution.trials",
  not_applicable = "no convolution tries algorithms out in the loop",
  evidence       = { "count", "per_step", "tried" },
  thresholds     = { "min_share", "min_count" },

  symptom = "In the loop, convolutions try {tried:num} algorithms each before they compute ({count:count} in the window, {per_step:num} {per:text}). These trials span {share:pct} of the time.",
  cause   = "With cudnn.benchmark, the first convolution of each new size runs every algorithm twice and waits for each. It pays where the same few sizes come again.",
  fixes   = {
    { action  = "Turn the search off: cuDNN then chooses an algorithm by rules, at once",
      snippet = "torch.backends.cudnn.benchmark = False",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Pad inputs to a few sizes, so that each size is tried out only once",
      snippet = "h, w = (-(-s // 64) * 64 for s in x.shape[-2:])\nx = F.pad(x, (0, w - x.shape[-1], 0, h - x.shape[-2]))",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Try out the sizes that will come before the loop, and drop or pad the last batch" },
  },
  false_positives = "A recording of the first steps, when all sizes that will come are tried out.",
  references = { "pytorch/tuning-guide" },

  saving = { confidence = 0.85, basis = "one algorithm is prepared instead of all, and none is run to be timed" },

  tests = {
    { name = "a new size in each step",
      edges = { ["convolution.trials.lost"] = 2e7, ["convolution.trials.count"] = 4 },
      facts = { window = { device_time = 1e9 }, convolution = { trials = { count = 80, per_step = 10, tried = 11, lost = 9e8, remedy = true } } },
      expect = { share = 0.9, count = 80, per_step = 10, tried = 11 },
      saving = { claims = 9e8, confidence = 0.85 } },
    { name = "near miss: the last batch of an epoch",
      facts = { window = { device_time = 1e9 }, convolution = { trials = { count = 80, per_step = 0.1, tried = 11, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one odd layer",
      facts = { window = { device_time = 1e9 }, convolution = { trials = { count = 2, per_step = 0.1, tried = 11, lost = 9e7, remedy = true } } },
      expect = "silent" },
    { name = "nothing is tried out",
      facts = { window = { device_time = 1e9 }, convolution = { trials = { count = 0, per_step = 0, tried = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
