-- Distributed data parallel with find_unused_parameters=True walks the graph of each step before the backward pass, on
-- the thread that launches it.
return {
  id        = "comm/unused-parameters",
  title     = "Switch the search for unused parameters off",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "flag",
  priority  = 70,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-B5", "K-A8" },

  needs      = { "window.device_time", "ranges.unused_search.per_step", "ranges.unused_search.lost",
                 "ranges.unused_search.remedy" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_count" },

  symptom = "The search for parameters without a gradient holds the launching thread {count:count} times a step; the GPU waits {share:pct} of its time for it.",
  cause   = "DDP was told that parameters may stay unused, and looks for them in each step.",
  fixes   = {
    { action  = "Leave it off when all parameters get a gradient",
      snippet = "model = DDP(model, find_unused_parameters=False)",
      language = "python" },
    { action  = "When always the same ones are unused",
      snippet = "model = DDP(model, static_graph=True)",
      language = "python" },
  },
  false_positives = "Models with branches that differ from step to step.",
  references = { "pytorch/ddp" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.ranges.unused_search.per_step > 0, "there is none of it"
  end,

  detect = function(f, t)
    local lost = share(f.ranges.unused_search.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.ranges.unused_search.per_step, t.min_count) then return nil end
    return { share = lost, count = f.ranges.unused_search.per_step }
  end,

  saving = function(f)
    return { claims = f.ranges.unused_search.lost, remedy = f.ranges.unused_search.remedy, confidence = 0.65, basis = "the host does not do this in the loop" }
  end,

  tests = {
    { name = "the search in each step",
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
