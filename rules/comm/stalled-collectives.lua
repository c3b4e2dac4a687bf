-- Single collectives take many times as long as their like, although all ranks had come: the network or a link stopped for a
-- moment. Neither overlap nor a faster path ends that, and a mean over all of them hides it.
return {
  id        = "comm/stalled-collectives",
  title     = "Find out what stops single collectives",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 77,
  explains  = { "comm/exposed", "comm/full-link", "comm/dominates", "comm/serial-gradient-sync", "step/outlier", "step/periodic-stall", "step/jitter" },
  knowledge = { "K-J1", "K-I7" },
  effort    = "design",

  needs      = { "cluster.ranks", "window.device_time" },
  optional   = { "comm.count", "comm.stalled.count", "comm.stalled.all", "comm.stalled.longest", "comm.stalled.usual", "comm.stalled.lost", "comm.stalled.remedy" },
  thresholds = { "min_share" },

  symptom = "Single collectives ({count:count} of {all:count}) take up to {longest:time}, where others like them take {usual:time}. Meanwhile, nothing else runs for {share:pct} of the time.",
  cause   = "All ranks had come: the transfer itself stopped. Usual reasons: a link that loses packets and repeats them, a congested or failing port, or another job on the same network.",
  fixes   = {
    { action  = "Look for errors of the links at the time of the run",
      snippet = "nvidia-smi nvlink -e     # NVLink: replays and recoveries\nperfquery                # InfiniBand: SymbolErrorCounter, PortXmitWait", language = "bash", ["for"] = { "nvidia" } },
    { action = "See in NCCL's log which network and ports each rank uses", snippet = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Run on other nodes: if it is gone, tell your support which nodes had it" },
  },
  false_positives = "A communicator that connects its channels at first use.",
  references = { "nccl/troubleshooting", "nccl/environment" },

  applies = function(f)
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    return f.cluster.ranks > 1, "one rank alone cannot tell a slow transfer from a wait for another rank"
  end,

  detect = function(f, t)
    local stalled = f.comm.stalled
    if not stalled.lost then return nil end
    local part = share(stalled.lost.time, f.window.device_time)
    if not at_least(part, t.min_share) then return nil end
    return { share = part, count = stalled.count, all = stalled.all, longest = stalled.longest, usual = stalled.usual }
  end,

  saving = { claims = "comm.stalled.lost", remedy = "comm.stalled.remedy", confidence = 0.6,
             basis = "each collective takes as long as others of its size" },

  tests = {
    { name = "two of 78 gradient sums take 31 ms, the others a quarter of one",
      edges = { ["comm.stalled.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, comm = { count = 312, stalled = { count = 2, all = 78, longest = 3.1e7, usual = 2.6e5, lost = 2.7e8, remedy = true } }, cluster = { ranks = 4 } },
      expect = { share = 0.27, count = 2, all = 78, longest = 3.1e7, usual = 2.6e5 },
      saving = { claims = 2.7e8, confidence = 0.6 } },
    { name = "near miss: behind compute, where it costs nothing",
      facts = { window = { device_time = 1e9 }, comm = { count = 312, stalled = { count = 2, all = 78, longest = 3.1e7, usual = 2.6e5, lost = 5e6, remedy = true } }, cluster = { ranks = 4 } },
      expect = "silent" },
    { name = "collectives do not stand out",
      facts = { window = { device_time = 1e9 }, comm = { count = 312, stalled = { count = 0, all = 0, longest = 0, usual = 0, lost = 0, remedy = true } }, cluster = { ranks = 4 } },
      expect = "silent" },
    { name = "one rank", facts = { window = { device_time = 1e9 }, comm = { count = 312 }, cluster = { ranks = 1 } }, expect = "not_applicable" },
    { name = "no collectives", facts = { window = { device_time = 1e9 }, comm = { count = 0 }, cluster = { ranks = 4 } }, expect = "not_applicable" },
  },
}
