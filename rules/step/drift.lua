-- Steps of the last third take longer than those of the first: something grows (sequences, a cache, a list,
-- fragmentation) or slows down (clocks, file system).
return {
  id        = "step/drift",
  title     = "Find out why steps get longer",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "design",
  priority  = 26,
  knowledge = { "K-I4", "K-O7" },

  needs      = { "steps.count", "steps.drift" },
  optional   = { "steps.drift_by_chance" },
  thresholds = { "min_drift", "min_errors" },

  symptom = "Steps in the last third take {drift:pct} longer than those in the first third.",
  cause   = "The work grows from step to step, or the machine slows down.",
  fixes   = {
    { action = "Compare an early step with a late one: kernels, copies, gaps (advise --window A:B)" },
    { action = "Look at memory: a leak slows the allocator down before the run fails" },
    { action = "Look at clocks and temperature over the run" },
  },
  false_positives = "Curricula that lengthen sequences. Generation with a growing cache.",
  references = { "nsys/user-guide" },

  applies = function(f)
    return f.steps.count > 0, "there are no steady steps"
  end,

  detect = function(f, t)
    if not at_least(f.steps.drift, t.min_drift) then return nil end
    -- Batches of different length differ by as much from one third of the steps to the next.
    local chance = f.steps.drift_by_chance or 0
    if chance > 0 and not at_least(f.steps.drift / chance, t.min_errors) then return nil end
    return { drift = f.steps.drift }
  end,

  tests = {
    { name = "a quarter longer",
      edges = { ["steps.drift"] = 0.1 },
      facts = { steps = { count = 60, drift = 0.25 } },
      expect = { drift = 0.25 } },
    { name = "a quarter longer, far beyond what chance gives",
      edges = { ["steps.drift_by_chance"] = 0.08333 },
      facts = { steps = { count = 60, drift = 0.25, drift_by_chance = 0.02 } },
      expect = { drift = 0.25 } },
    { name = "near miss: batches of random length",
      facts = { steps = { count = 39, drift = 0.54, drift_by_chance = 0.3 } },
      expect = "silent" },
    { name = "near miss: two percent",
      facts = { steps = { count = 60, drift = 0.02 } },
      expect = "silent" },
    { name = "there are no steady steps",
      facts = { steps = { count = 0, drift = 0 } },
      expect = "not_applicable" },
    { name = "no steps",
      facts = {},
      expect = "cannot_tell" },
  },
}
