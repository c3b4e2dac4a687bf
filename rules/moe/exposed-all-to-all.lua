-- All-to-all between the ranks that hold the experts, with nothing beside it: every layer waits for its tokens twice.
return {
  id        = "moe/exposed-all-to-all",
  title     = "Overlap the token exchange with compute",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "design",
  priority  = 45,
  explains  = { "comm/exposed" },
  knowledge = { "K-J7", "K-C2" },

  needs      = { "window.device_time", "comm.kinds", "comm.exposed" },
  thresholds = { "min_share" },

  symptom = "All-to-all exchanges run alone for {share:pct} of the time ({count:count} of them).",
  cause   = "Tokens go to their experts and come back between two layers, and nothing else is ready to run.",
  fixes   = {
    { action = "Split the batch in two, so that one half is exchanged while the other computes" },
    { action = "Keep the experts of one token inside a node (node-limited routing), or place experts by their load" },
    { action = "Exchange in FP8, and use a library made for it (DeepEP)" },
  },
  false_positives = "Exchanges that are long because one rank is late: see rank/straggler.",
  references = { "megatron/parallelism", "nccl/collectives" },

  applies = function(f)
    local all = filter(f.comm.kinds, function(row) return row.kind == "alltoall" or row.kind == "all_to_all" end)
    return #all > 0, "no all-to-all ran"
  end,

  detect = function(f, t)
    local all = filter(f.comm.kinds, function(row) return row.kind == "alltoall" or row.kind == "all_to_all" end)
    local lost = share(sum(all, "exposed"), f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    return { share = lost, count = sum(all, "count") }
  end,

  saving = function(f)
    local all = filter(f.comm.kinds, function(row) return row.kind == "alltoall" or row.kind == "all_to_all" end)
    return { claims = f.comm.exposed, part = 0.5 * share(sum(all, "exposed"), f.comm.exposed.time), confidence = 0.4, basis = "half of the exposed all-to-all time overlaps with compute" }
  end,

  tests = {
    { name = "two exchanges a layer",
      edges = { ["comm.kinds[1].exposed"] = 5e7 },
      facts = { window = { device_time = 1e9 }, comm = { kinds = { { kind = "alltoall", count = 96, time = 3e8, exposed = 2e8 }, { kind = "allreduce", count = 1, time = 1e7, exposed = 0 } }, exposed = 2.5e8 } },
      expect = { share = 0.2, count = 96 },
      saving = { claims = 2.5e8, part = 0.4 } },
    { name = "near miss: hidden",
      facts = { window = { device_time = 1e9 }, comm = { kinds = { { kind = "alltoall", count = 96, time = 3e8, exposed = 1e7 } }, exposed = 1e7 } },
      expect = "silent" },
    { name = "no all-to-all",
      facts = { window = { device_time = 1e9 }, comm = { kinds = { { kind = "allreduce", count = 1, time = 1e7, exposed = 0 } }, exposed = 0 } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
