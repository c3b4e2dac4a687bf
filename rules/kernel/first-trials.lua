-- A recording of a first pass: cuDNN in benchmark mode tries its algorithms out for each new size. What runs is mostly trials, which no
-- later pass repeats. In a loop, kernel/algorithm-trials speaks.
return {
  id        = "kernel/first-trials",
  title     = "Record a later pass: this one tries algorithms out",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-A5" },

  needs      = { "window.device_time", "window.supports_verdict", "convolution.trials.count", "convolution.trials.tried", "convolution.trials.lost" },
  thresholds = { "min_share" },

  symptom = "Trials of algorithms fill {share:pct} of the time: convolutions try {tried:num} algorithms each. Kernels of the trials are listed with those of the model.",
  cause   = "With cudnn.benchmark, the first convolution of each size runs every algorithm and waits for each. Later passes with the same sizes do not.",
  fixes   = {
    { action = "Record a later pass, of sizes that came before",
      snippet = "for _ in range(3):\n    model(x)             # not recorded\nwith profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:\n    model(x)",
      language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "A program that always ends after its first pass: there the search costs more than it wins.",
  references = { "pytorch/tuning-guide" },

  applies = function(f)
    if f.window.supports_verdict then return false, "the capture holds a loop: its trials are a matter of kernel/algorithm-trials" end
    return f.convolution.trials.count > 0, "no convolution tries algorithms out"
  end,

  detect = function(f, t)
    local trials = f.convolution.trials
    local part = share(trials.lost.time, f.window.device_time)
    if not at_least(part, t.min_share) then return nil end
    return { share = part, count = trials.count, tried = trials.tried }
  end,

  tests = {
    { name = "half of the first pass is trials",
      edges = { ["convolution.trials.lost"] = 1e8 },
      facts = { window = { device_time = 1e9, supports_verdict = false }, convolution = { trials = { count = 2, tried = 4, lost = 5e8 } } },
      expect = { share = 0.5, count = 2, tried = 4 } },
    { name = "near miss: one trial of a long pass",
      facts = { window = { device_time = 1e9, supports_verdict = false }, convolution = { trials = { count = 1, tried = 4, lost = 2e7 } } },
      expect = "silent" },
    { name = "in a loop another rule speaks",
      facts = { window = { device_time = 1e9, supports_verdict = true }, convolution = { trials = { count = 2, tried = 4, lost = 5e8 } } },
      expect = "not_applicable" },
    { name = "no trials",
      facts = { window = { device_time = 1e9, supports_verdict = false }, convolution = { trials = { count = 0, tried = 0, lost = 0 } } },
      expect = "not_applicable" },
    { name = "operators were not recorded", facts = { window = { device_time = 1e9, supports_verdict = false } }, expect = "cannot_tell" },
  },
}
