-- Gradient sums whose sizes were not recorded, but whose time is implausible for the path that they should take: at its
-- usual rate, they would be the gradients of a model so large that the computing between them has time for hardly a token.
-- Where sizes are known, comm/low-bandwidth compares the rates themselves.
return {
  id        = "comm/slow-gradients",
  title     = "Find out which path the gradients take",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 65,
  explains  = { "comm/exposed", "comm/full-link", "comm/dominates" },
  knowledge = { "K-J1", "K-J2", "K-J3" },
  effort    = "flag",

  needs      = { "cluster.ranks", "window.device_time" },
  optional   = { "comm.path.inside.tokens", "comm.path.inside.peak", "comm.path.inside.name", "comm.path.inside.lost",
                 "comm.path.inside.remedy", "comm.path.across.tokens", "comm.path.across.peak", "comm.path.across.name",
                 "comm.path.across.lost", "comm.path.across.remedy", "comm.path.inside.off", "comm.path.across.off", "comm.median", "strategy.name" },
  thresholds = { "min_share", "max_tokens", "min_call" },

  symptom = "Summing up the gradients probably runs below the rate of {path:text} ({peak:rate}). If it ran at that rate, the model would be so large that the compute time of a step allows only {tokens:count} tokens, too few for training. A faster path would save up to {share:pct} of the time.",
  cause   = "Communication probably takes another path: PCIe or host memory instead of NVLink, or TCP sockets instead of InfiniBand.",
  fixes   = {
    { action = "See which path NCCL takes",
      snippet = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET COMMAND 2>&1 | grep -E 'via|NET/|Channel'", language = "bash" },
    { action = "Remove settings that turn fast paths off",
      snippet = "env | grep NCCL_\nunset NCCL_P2P_DISABLE NCCL_P2P_LEVEL NCCL_IB_DISABLE NCCL_SHM_DISABLE", language = "bash" },
    { action = "Check that the links are up, and that each process sees all GPUs of its node",
      snippet = "nvidia-smi topo -m\nnvidia-smi nvlink --status", language = "bash", ["for"] = { "nvidia" } },
    { action = "Measure the path by itself, on the same nodes",
      snippet = "mpirun -n RANKS ./build/all_reduce_perf -b 64M -e 1G -f 2   # one rank per GPU; from nccl-tests (AMD: rccl-tests)", language = "bash" },
  },
  false_positives = "A model with far more parameters than it computes with, such as large embedding tables with dense gradients; or a batch of a few tokens.",
  references = { "nccl/environment", "nccl/troubleshooting" },

  applies = function(f) return f.cluster.ranks > 1, "only one rank was recorded" end,

  detect = function(f, t)
    if f.strategy.name ~= "ddp" or not at_least(f.comm.median or 0, t.min_call) then return nil end
    local worst, most = nil, 0
    for _, path in ipairs({ f.comm.path.inside, f.comm.path.across }) do
      -- Where a variable takes the path away, the cause is known: comm/path-switched-off.
      local lost = path.lost and not path.off and share(path.lost.time, f.window.device_time) or 0
      if path.tokens and at_most(path.tokens, t.max_tokens) and at_least(lost, t.min_share) and lost > most then
        worst, most = path, lost
      end
    end
    if not worst then return nil end
    return { path = worst.name, peak = worst.peak, tokens = worst.tokens, share = most }
  end,

  saving = function(f, _, e)
    local path = f.comm.path.inside
    if path.name ~= e.path then path = f.comm.path.across end
    return { claims = path.lost, remedy = path.remedy, confidence = 0.4, basis = "gradients take the fast path" }
  end,

  tests = {
    { name = "computing is far too short for gradients at NVLink's rate",
      edges = { ["comm.median"] = 1e6, ["comm.path.inside.lost"] = 2e8, ["comm.path.inside.tokens"] = 800 },
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 2 }, strategy = { name = "ddp" },
                comm = { median = 1.4e7, path = { inside = { tokens = 339, peak = 450e9, name = "NVLink", lost = 2.4e9, remedy = true } } } },
      expect = { tokens = 339, share = 0.6, path = "NVLink" }, saving = { claims = 2.4e9, confidence = 0.4 } },
    { name = "near miss: a variable takes the path away, which says more",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 2 }, strategy = { name = "ddp" },
                comm = { median = 1.4e7, path = { inside = { off = "NCCL_P2P_DISABLE", tokens = 339, peak = 450e9, name = "NVLink", lost = 2.4e9, remedy = true } } } },
      expect = "silent" },
    { name = "near miss: a short fine-tuning step on NVLink",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 2 }, strategy = { name = "ddp" },
                comm = { median = 2e6, path = { inside = { tokens = 2500, peak = 450e9, name = "NVLink", lost = 2.4e9, remedy = true } } } },
      expect = "silent" },
    { name = "near miss: small all-reduces, whose time is latency",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 2 }, strategy = { name = "ddp" },
                comm = { median = 5e4, path = { inside = { tokens = 339, peak = 450e9, name = "NVLink", lost = 2.4e9, remedy = true } } } },
      expect = "silent" },
    { name = "near miss: parallel in other ways, too",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 2 }, strategy = { name = "ddp+tensor" },
                comm = { median = 1.4e7, path = { inside = { tokens = 339, peak = 450e9, name = "NVLink", lost = 2.4e9, remedy = true } } } },
      expect = "silent" },
    { name = "sizes are known", facts = { window = { device_time = 4e9 }, cluster = { ranks = 2 }, strategy = { name = "ddp" }, comm = { median = 2e6 } },
      expect = "silent" },
    { name = "one rank", facts = { cluster = { ranks = 1 } }, expect = "not_applicable" },
  },
}
