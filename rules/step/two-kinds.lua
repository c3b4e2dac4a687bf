-- Step lengths fall into two groups with a wide space between: two shapes, accumulation steps and updates, a sampler
-- that alternates, or two states of the clock.
return {
  id        = "step/two-kinds",
  title     = "Analyze the two kinds of steps separately",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "design",
  knowledge = { "K-I4", "K-N13" },

  measure        = "steps.kinds",
  applies        = "share",
  not_applicable = "there are too few steady steps",
  evidence       = { "share", "ratio" },
  needs          = { "steps.count" },
  thresholds     = { "min_ratio" },

  symptom = "There are two kinds of steps: {share:pct} of them take at least {ratio:num} times as long as the others.",
  cause   = "Two kinds of work alternate, and averages describe neither.",
  fixes   = {
    { action = "Compare a short step with a long one (advise --window A:B)" },
    { action = "With gradient accumulation, take a whole cycle as the step" },
  },
  false_positives = "Accumulation steps, as intended.",
  references = { "pytorch/profiler" },

  tests = {
    { name = "every fourth step updates",
      edges = { ["steps.kinds.ratio"] = 1.25 },
      facts = { steps = { count = 60, kinds = { share = 0.25, ratio = 1.6 } } },
      expect = { share = 0.25, ratio = 1.6 } },
    { name = "near miss: steps of one kind",
      facts = { steps = { count = 60, kinds = { share = 0.4, ratio = 1.03 } } },
      expect = "silent" },
    { name = "few steps",
      facts = { steps = { count = 6, kinds = { share = 0, ratio = 0 } } },
      expect = "not_applicable" },
    { name = "no steps",
      facts = {},
      expect = "cannot_tell" },
  },
}
