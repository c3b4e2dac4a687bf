-- The clocks of the hosts disagree by more than a collective lasts: times of different reports compare only after alignment.
return {
  id        = "rank/clock-skew",
  title     = "Synchronize the hosts' clocks with PTP",
  status    = "stable",
  since     = "0.2",
  kind      = "info",
  knowledge = { "K-I6" },
  effort    = "design",

  needs      = { "cluster.ranks", "cluster.reports", "cluster.skew", "cluster.residual", "cluster.aligned" },
  thresholds = { "min_skew" },

  symptom = "The clocks of the hosts differ by up to {skew:time}; {how:text}.",
  cause   = "Network time (NTP) keeps clocks within about a millisecond. PTP in software keeps them within 10 to 100 microseconds, and PTP in hardware within some ten nanoseconds.",
  fixes   = {
    { action = "This report needs no action if it compared ranks at their collectives; to compare ranks by the clock alone, synchronize the nodes with PTP" },
  },
  false_positives = "Reports whose times were normalized or shifted on export.",
  references = { "nccl/collectives" },

  applies = function(f) return f.cluster.reports > 1, "one report has one clock" end,

  detect = function(f, t)
    if not at_least(f.cluster.skew, t.min_skew) then return nil end
    local how = "the collectives could not be matched on all ranks, so times of different ranks are not compared"
    if f.cluster.aligned then
      how = "ranks were compared after they were aligned at the ends of their collectives"
    end
    return { skew = f.cluster.skew, residual = f.cluster.residual, how = how }
  end,

  tests = {
    { name = "two nodes, 4 ms apart",
      edges = { ["cluster.skew"] = 1e6 },
      facts = { cluster = { ranks = 8, reports = 8, skew = 4e6, residual = 3e3, aligned = true } },
      expect = { skew = 4e6, how = "ranks were compared after they were aligned at the ends of their collectives" } },
    { name = "hours apart, and nothing to align on",
      facts = { cluster = { ranks = 8, reports = 8, skew = 7e12, residual = 0, aligned = false } },
      expect = { skew = 7e12 } },
    { name = "near miss: well synchronized",
      facts = { cluster = { ranks = 8, reports = 8, skew = 2e4, residual = 3e3, aligned = true } }, expect = "silent" },
    { name = "one report", facts = { cluster = { ranks = 4, reports = 1 } }, expect = "not_applicable" },
    { name = "reports without a date", facts = { cluster = { ranks = 4, reports = 4, residual = 0, aligned = true } }, expect = "cannot_tell" },
  },
}
