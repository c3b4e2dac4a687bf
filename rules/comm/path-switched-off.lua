-- A variable takes the fast path from the collectives, and they take much of the time. What is written down is the cause:
-- rules that compare rates would only say that the path is slow.
return {
  id        = "comm/path-switched-off",
  title     = "Unset the variable that keeps collectives off their fast path",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 77,
  explains  = { "comm/exposed", "comm/full-link", "moe/exposed-all-to-all", "comm/dominates", "comm/low-bandwidth", "comm/slow-gradients", "comm/small-messages",
                "topology/nccl-environment", "topology/nccl-transport" },
  knowledge = { "K-J1", "K-J2", "K-J4" },
  effort    = "flag",
  topic     = "switch",

  needs      = { "cluster.ranks", "window.device_time" },
  optional   = { "comm.path.inside.off", "comm.path.inside.name", "comm.path.inside.peak", "comm.path.inside.lost", "comm.path.inside.remedy",
                 "comm.path.across.off", "comm.path.across.name", "comm.path.across.peak", "comm.path.across.lost", "comm.path.across.remedy" },
  thresholds = { "min_share" },

  symptom = "{variable:text} is set, so collectives do not use {path:text} ({peak:rate}). On that path, they would be shorter by {share:pct} of the time.",
  cause   = "Such settings are left over from debugging, or come from a template. Data then goes through host memory inside a node, and over TCP sockets between nodes.",
  fixes   = {
    { reason = "inside", action = "Unset it, and check that the job still runs",
      snippet = "env | grep NCCL_P2P\nunset NCCL_P2P_DISABLE NCCL_P2P_LEVEL", language = "bash" },
    { reason = "across", action = "If the nodes have InfiniBand or RoCE, unset it, and check that the job still runs",
      snippet = "ibstat   # an active port?\nunset NCCL_IB_DISABLE   # leave NCCL_NET and NCCL_IB_HCA if the site sets them", language = "bash" },
    { action = "If a bug on this system makes it necessary, document it, with the version that fixes the bug" },
  },
  false_positives = "GPUs without NVLink, although the same model elsewhere has it; nodes without InfiniBand.",
  references = { "nccl/environment" },

  applies = function(f) return f.cluster.ranks > 1, "only one rank was recorded" end,

  detect = function(f, t)
    local worst, most, where = nil, 0, nil
    for i, path in ipairs({ f.comm.path.inside, f.comm.path.across }) do
      local lost = path.off and path.lost and share(path.lost.time, f.window.device_time) or 0
      if at_least(lost, t.min_share) and lost > most then worst, most, where = path, lost, i == 1 and "inside" or "across" end
    end
    if not worst then return nil end
    return { variable = worst.off, path = worst.name, peak = worst.peak, share = most, reason = where }
  end,

  saving = function(f, _, e)
    local path = f.comm.path.inside
    if e.reason == "across" then path = f.comm.path.across end
    -- NVLink comes with the GPU; a network that is turned off need not be there.
    return { claims = path.lost, remedy = path.remedy, confidence = e.reason == "inside" and 0.7 or 0.4,
             basis = "collectives take the fast path" }
  end,

  tests = {
    { name = "peer-to-peer is off on GPUs with NVLink",
      edges = { ["comm.path.inside.lost"] = 1.2e8 },
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                comm = { path = { inside = { off = "NCCL_P2P_DISABLE=1", peak = 450e9, name = "NVLink", lost = 1.6e9, remedy = true } } } },
      expect = { variable = "NCCL_P2P_DISABLE=1", share = 0.4, path = "NVLink", reason = "inside" }, saving = { claims = 1.6e9, confidence = 0.7 } },
    { name = "InfiniBand is off between nodes, and costs more than what is off inside",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                comm = { path = { inside = { off = "NCCL_P2P_LEVEL=LOC", peak = 450e9, name = "NVLink", lost = 4e8, remedy = true },
                                  across = { off = "NCCL_IB_DISABLE=1", peak = 25e9, name = "the network between nodes", lost = 2e9, remedy = true } } } },
      expect = { variable = "NCCL_IB_DISABLE=1", share = 0.5, reason = "across" }, saving = { claims = 2e9, confidence = 0.4 } },
    { name = "near miss: the path is slow, and no variable is set",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                comm = { path = { inside = { peak = 450e9, name = "NVLink", lost = 1.6e9, remedy = true } } } },
      expect = "silent" },
    { name = "near miss: collectives are hidden behind computing",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                comm = { path = { inside = { off = "NCCL_P2P_DISABLE=1", peak = 450e9, name = "NVLink", lost = 1e7, remedy = true } } } },
      expect = "silent" },
    { name = "near miss: GPUs without NVLink, whose path has no known rate",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 }, comm = { path = { inside = { off = "NCCL_P2P_DISABLE=1" } } } },
      expect = "silent" },
    { name = "one rank", facts = { cluster = { ranks = 1 } }, expect = "not_applicable" },
  },
}
