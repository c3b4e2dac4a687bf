-- The same collectives take far longer in some groups of ranks than in others, although all members had come: the path between
-- these ranks is slower. The other groups then wait at the next collective of all, and neither overlap nor balance ends that.
return {
  id        = "comm/slow-group",
  title     = "Find out why some ranks transfer more slowly than others",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 78,
  explains  = { "comm/exposed", "comm/full-link", "comm/overlap-disabled", "comm/dominates", "comm/tensor-latency", "rank/straggler", "rank/compute-imbalance", "rank/outlier-node" },
  knowledge = { "K-J1", "K-I7" },
  effort    = "design",

  needs      = { "cluster.ranks", "window.device_time" },
  optional   = { "comm.count", "comm.slow_group.count", "comm.slow_group.ranks", "comm.slow_group.time", "comm.slow_group.usual",
                 "comm.slow_group.lost", "comm.slow_group.remedy" },
  thresholds = { "min_share" },

  symptom = "Collectives of ranks {ranks:text} take {time:time} to transfer (mean); the same collectives of other groups take {usual:time}. For {share:pct} of the time, nothing else runs meanwhile.",
  cause   = "All members had come, so the path between these ranks is slower: a link that is down or degraded, GPUs that are connected by PCIe only, or a channel over the host.",
  fixes   = {
    { action  = "Compare how the GPUs of these ranks and of the others are connected, and look for errors of their links",
      snippet = "nvidia-smi topo -m\nnvidia-smi nvlink --status\nnvidia-smi nvlink -e", language = "bash", ["for"] = { "nvidia" } },
    { action  = "Compare which path NCCL took on these ranks and on the others",
      snippet = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action  = "Put ranks that talk most on GPUs with the fastest links between them (CUDA_VISIBLE_DEVICES, the order of ranks)" },
  },
  false_positives = "Groups that send different amounts, where the report does not say sizes.",
  references = { "nccl/troubleshooting", "nccl/environment" },

  applies = function(f)
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    return f.cluster.ranks > 1, "one rank alone does not show the collectives of other groups"
  end,

  detect = function(f, t)
    local slow = f.comm.slow_group
    if not slow.lost or slow.count == 0 then return nil end
    local part = share(slow.lost.time, f.window.device_time)
    if not at_least(part, t.min_share) then return nil end
    return { share = part, ranks = slow.ranks, time = slow.time, usual = slow.usual, count = slow.count }
  end,

  saving = { claims = "comm.slow_group.lost", remedy = "comm.slow_group.remedy", confidence = 0.7,
             basis = "the same collectives take as long in all groups" },

  tests = {
    { name = "two of four ranks sum their layers in five times the time",
      edges = { ["comm.slow_group.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, comm = { count = 720, slow_group = { count = 360, ranks = "2, 3", time = 3e5, usual = 6e4, lost = 2.2e8, remedy = true } }, cluster = { ranks = 4 } },
      expect = { share = 0.22, ranks = "2, 3", time = 3e5, usual = 6e4 },
      saving = { claims = 2.2e8, confidence = 0.7 } },
    { name = "near miss: behind compute, where it costs nothing",
      facts = { window = { device_time = 1e9 }, comm = { count = 720, slow_group = { count = 360, ranks = "2, 3", time = 3e5, usual = 6e4, lost = 5e6, remedy = true } }, cluster = { ranks = 4 } },
      expect = "silent" },
    { name = "all groups take as long",
      facts = { window = { device_time = 1e9 }, comm = { count = 720, slow_group = { count = 0, ranks = "", time = 0, usual = 0, lost = 0, remedy = true } }, cluster = { ranks = 4 } },
      expect = "silent" },
    { name = "one rank", facts = { window = { device_time = 1e9 }, comm = { count = 312 }, cluster = { ranks = 1 } }, expect = "not_applicable" },
    { name = "no collectives", facts = { window = { device_time = 1e9 }, comm = { count = 0 }, cluster = { ranks = 4 } }, expect = "not_applicable" },
  },
}
