-- Large collectives move their bytes at a fraction of what the path between the ranks carries.
local plural = {
  allreduce = "all-reduces", allgather = "all-gathers", reducescatter = "reduce-scatters", alltoall = "all-to-alls",
  sendrecv = "sends and receives", broadcast = "broadcasts", reduce = "reduces",
}

return {
  id        = "comm/low-bandwidth",
  title     = "Find out why collectives are far slower than their link",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 66,
  explains  = { "comm/exposed", "comm/full-link", "comm/dominates" },
  knowledge = { "K-J1", "K-J2", "K-J3", "K-N7" },
  effort    = "flag",

  needs      = { "cluster.ranks", "window.device_time" },
  optional   = { "comm.path.inside.rate", "comm.path.inside.peak", "comm.path.inside.name", "comm.path.inside.kind",
                 "comm.path.inside.lost", "comm.path.inside.remedy", "comm.path.across.rate", "comm.path.across.peak",
                 "comm.path.across.name", "comm.path.across.kind", "comm.path.across.lost", "comm.path.across.remedy", "cluster.missing" },
  thresholds = { "max_of_peak", "min_share" },

  symptom = "Large collectives (mostly {kind:text}) reach {rate:rate} of bus bandwidth over {path:text}: {part:pct} of its {peak:rate}. At the usual rate, they would save {share:pct} of the time.",
  cause   = "{measured:text} Usual reasons: GPUs communicate over PCIe or host memory although NVLink exists, the network runs without GPUDirect RDMA, several rings share one link, or another job uses it.",
  fixes   = {
    { action = "See which path NCCL took",
      snippet = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET COMMAND 2>&1 | grep -E 'via|NET/|Channel'", language = "bash" },
    { action = "Remove settings that turn fast paths off",
      snippet = "unset NCCL_P2P_DISABLE NCCL_P2P_LEVEL NCCL_IB_DISABLE NCCL_SHM_DISABLE", language = "bash" },
    { action = "Measure the path by itself, on the same nodes",
      snippet = "mpirun -n RANKS ./build/all_reduce_perf -b 64M -e 1G -f 2   # one rank per GPU; from nccl-tests (AMD: rccl-tests)", language = "bash" },
  },
  false_positives = "Collectives that share their links with copies or other collectives at the same time.",
  references = { "nccl/environment", "nccl/troubleshooting", "nvidia/gpudirect-rdma" },

  applies = function(f) return f.cluster.ranks > 1, "only one rank was recorded" end,

  detect = function(f, t)
    local worst, lost = nil, 0
    local known = false
    for _, path in ipairs({ f.comm.path.inside, f.comm.path.across }) do
      if path.rate and path.peak then
        known = true
        local time = share(path.lost.time, f.window.device_time)
        if at_most(share(path.rate, path.peak), t.max_of_peak) and at_least(time, t.min_share) and time > lost then
          worst, lost = path, time
        end
      end
    end
    if not known or not worst then return nil end
    return { kind = plural[worst.kind] or worst.kind, rate = worst.rate, path = worst.name, part = share(worst.rate, worst.peak), peak = worst.peak,
             share = lost,
             measured = (f.cluster.missing or 0) > 0 and "Some ranks have no report: waiting for them may be in it."
               or "This is measured on the rank that came last, so waiting is not in it." }
  end,

  saving = function(f, _, e)
    local path = f.comm.path.inside
    if path.name ~= e.path then path = f.comm.path.across end
    return { claims = path.lost, remedy = path.remedy, confidence = (f.cluster.missing or 0) > 0 and 0.35 or 0.5, basis = "collectives reach the usual share of the link's rate" }
  end,

  tests = {
    { name = "40 GB/s on NVLink of 300 GB/s",
      edges = { ["comm.path.inside.lost"] = 8e7, ["comm.path.inside.peak"] = 1e11 },
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                comm = { path = { inside = { rate = 40e9, peak = 300e9, name = "NVLink", kind = "allreduce", lost = 4e8, remedy = true } } } },
      expect = { rate = 40e9, path = "NVLink", share = 0.1, kind = "all-reduces",
                 measured = "This is measured on the rank that came last, so waiting is not in it." },
      saving = { claims = 4e8, confidence = 0.5 } },
    { name = "a rank has no report",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4, missing = 1 },
                comm = { path = { inside = { rate = 40e9, peak = 300e9, name = "NVLink", kind = "allreduce", lost = 4e8, remedy = true } } } },
      expect = { measured = "Some ranks have no report: waiting for them may be in it." }, saving = { confidence = 0.35 } },
    { name = "5 GB/s between nodes",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                comm = { path = { inside = { rate = 220e9, peak = 300e9, name = "NVLink", kind = "allgather", lost = 0, remedy = true },
                                  across = { rate = 5e9, peak = 25e9, name = "the network between nodes", kind = "allreduce", lost = 6e8, remedy = true } } } },
      expect = { rate = 5e9, path = "the network between nodes" }, saving = { claims = 6e8 } },
    { name = "near miss: three quarters of the rate",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                comm = { path = { inside = { rate = 225e9, peak = 300e9, name = "NVLink", kind = "allreduce", lost = 0, remedy = true } } } },
      expect = "silent" },
    { name = "sizes are not known", facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 } }, expect = "silent" },
    { name = "one rank", facts = { cluster = { ranks = 1 } }, expect = "not_applicable" },
  },
}
