-- Distributed data parallel with find_unused_parameters=True walks the graph of each step before the backward pass, on
-- the thread that launches it.
return {
  id        = "comm/unused-parameters",
  title     = "Turn off find_unused_parameters",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 70,
  explains  = { "host/cpu-bound", "sync/host-busy-wait", "step/backward-gaps" },
  knowledge = { "K-B5", "K-A8" },

  needs_loop = true,
  loss       = "ranges.unused_search",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "DDP searches for parameters without a gradient, {count:count} times {per:text}, on the launching thread. The GPU waits {share:pct} of the time for that.",
  cause   = "DDP looks for unused parameters in each step, since it was told that there may be some.",
  fixes   = {
    { action  = "Turn it off if all parameters get a gradient",
      snippet = "model = DDP(model, find_unused_parameters=False)",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "If always the same parameters are unused, say that the graph is static",
      snippet = "model = DDP(model, static_graph=True)",
      language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Models with branches that differ from step to step.",
  references = { "pytorch/ddp" },

  saving = { confidence = 0.65, basis = "DDP does not search for unused parameters" },

  tests = {
    { name = "the search in each step",
      edges = { ["ranges.unused_search.lost"] = 2e7, ["ranges.unused_search.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, ranges = { unused_search = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: a small graph",
      facts = { window = { device_time = 1e9 }, ranges = { unused_search = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, ranges = { unused_search = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "there is no such search",
      facts = { window = { device_time = 1e9 }, ranges = { unused_search = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
