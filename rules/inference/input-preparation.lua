-- Building the inputs of a step (indices, tables, lengths) on the host after the step before has ended: the GPU waits.
return {
  id        = "inference/input-preparation",
  title     = "Prepare the next step while the current one runs",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 69,
  explains  = { "host/cpu-bound", "launch/bound" },
  knowledge = { "K-H4", "K-H5" },

  needs_loop = true,
  loss       = "ranges.prepare",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "Inputs are prepared {count:count} times {per:text} while the GPU waits: {share:pct} of the time.",
  cause   = "The host prepares a step only after the previous one has ended.",
  fixes   = {
    { action = "Schedule one step ahead (asynchronous scheduling in serving engines)" },
    { action = "Keep the tables on the GPU and update them there" },
    { action = "Run several decode steps per scheduling decision" },
  },
  false_positives = "Servers with few requests.",
  references = { "cuda-programming/graphs" },

  saving = { confidence = 0.6, basis = "inputs are ready when the previous step ends" },

  tests = {
    { name = "tables are rebuilt for each token",
      edges = { ["ranges.prepare.lost"] = 5e7, ["ranges.prepare.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, ranges = { prepare = { per_step = 10, lost = 1.5e8, remedy = true } } },
      expect = { share = 0.15, count = 10 },
      saving = { claims = 1.5e8, confidence = 0.6 } },
    { name = "near miss: beside the GPU's work",
      facts = { window = { device_time = 1e9 }, ranges = { prepare = { per_step = 10, lost = 1.25e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, ranges = { prepare = { per_step = 0.05, lost = 1.5e8, remedy = true } } },
      expect = "silent" },
    { name = "no such ranges",
      facts = { window = { device_time = 1e9 }, ranges = { prepare = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
