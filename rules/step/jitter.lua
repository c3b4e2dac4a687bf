-- Step times vary widely all along, not in single steps. A symptom: of loading that sometimes comes late, of batches of
-- different size, of neighbors on the machine. The mean step then hides what could be had.
return {
  id        = "step/jitter",
  title     = "Find out why step times vary",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "code",
  priority  = 30,
  knowledge = { "K-I4" },

  needs      = { "steps.count", "steps.median", "steps.jitter" },
  optional   = { "steps.source" },
  thresholds = { "min_jitter", "min_steps" },

  symptom = "Step times vary: even within the middle half of {steps:count} steps, they differ by up to {spread:text} ({median:time}).",
  cause   = "Steps do different amounts of work, or wait for something that arrives at irregular times.",
  fixes   = {
    { action = "Compare a fast, a median and a slow step: do kernels, copies or idle time grow?",
      snippet = "advise REPORT --window A:B       # seconds, around one step at a time", language = "bash" },
    { action = "If compute time grows, bucket samples by length and pad to a few sizes", ["for"] = { "python" } },
    { action = "If idle time grows, keep more batches in reserve in the loader, and give the launching thread its own cores",
      snippet = "loader = DataLoader(dataset, num_workers=8, prefetch_factor=8, persistent_workers=True)", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Variable sequence lengths, mixture of experts, adaptive solvers: uneven work by nature.",
  references = { "pytorch/tuning-guide" },

  applies = function(f) return f.steps.count > 0, "there are no steps in the window" end,

  detect = function(f, t)
    if not at_least(f.steps.count, t.min_steps) then return nil end
    if not at_least(f.steps.jitter, t.min_jitter) then return nil end
    -- Beyond twice the median, percents are hard to read.
    local times = math.floor(f.steps.jitter + 0.5)
    local spread = times >= 2 and times .. " times the median" or in_words(f.steps.jitter, "pct") .. " of the median"
    return { jitter = f.steps.jitter, spread = spread, steps = f.steps.count, median = f.steps.median, source = f.steps.source }
  end,

  tests = {
    { name = "steps vary by half",
      edges = { ["steps.count"] = 8, ["steps.jitter"] = 0.2 },
      facts = { steps = { count = 40, median = 1e8, jitter = 0.5, source = "annotation" } },
      expect = { jitter = 0.5, steps = 40, median = 1e8, source = "annotation" } },
    { name = "steps of two kinds, one of which takes ten times as long",
      facts = { steps = { count = 40, median = 2e4, jitter = 9.99 } },
      expect = { spread = "10 times the median" } },
    { name = "near miss: the usual variation", facts = { steps = { count = 40, median = 1e8, jitter = 0.04 } },
      expect = "silent" },
    { name = "near miss: too few steps to tell", facts = { steps = { count = 4, median = 1e8, jitter = 0.6 } },
      expect = "silent" },
    { name = "there are no steps in the window", facts = { steps = { count = 0, median = 0, jitter = 0 } }, expect = "not_applicable" },
    { name = "no steps were found", facts = {}, expect = "cannot_tell" },
  },
}
