-- All-to-all between the ranks that hold the experts, with nothing beside it: every layer waits for its tokens twice.
local function exchanges(f)
  local named = filter(f.comm.kinds, function(row) return row.kind == "alltoall" end)
  if #named > 0 or (f.ranges.all_to_all.count or 0) == 0 then return named end
  return filter(f.comm.kinds, function(row) return row.kind == "sendrecv" end)
end

return {
  id        = "moe/exposed-all-to-all",
  title     = "Overlap the token exchange with compute",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "design",
  priority  = 58,
  topic     = "collectives",
  explains  = { "comm/exposed", "comm/full-link" },
  knowledge = { "K-J7", "K-C2" },

  needs      = { "window.device_time", "comm.kinds", "comm.exposed", "family.moe_routing.per_step" },
  optional   = { "ranges.all_to_all.count" },
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
    if #exchanges(f) == 0 then return false, "no all-to-all ran" end
    return f.family.moe_routing.per_step > 0, "no kernels route tokens to experts"
  end,

  detect = function(f, t)
    local all = exchanges(f)
    local lost = share(sum(all, "exposed"), f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    return { share = lost, count = sum(all, "count") }
  end,

  saving = function(f)
    local all = exchanges(f)
    return { claims = f.comm.exposed, part = 0.5 * share(sum(all, "exposed"), f.comm.exposed.time), confidence = 0.45, basis = "half of the exposed all-to-all time overlaps with compute" }
  end,

  tests = {
    { name = "two exchanges a layer",
      edges = { ["comm.kinds[1].exposed"] = 5e7 },
      facts = { window = { device_time = 1e9 }, family = { moe_routing = { per_step = 48 } }, comm = { kinds = { { kind = "alltoall", count = 96, time = 3e8, exposed = 2e8 }, { kind = "allreduce", count = 1, time = 1e7, exposed = 0 } }, exposed = 2.5e8 } },
      expect = { share = 0.2, count = 96 },
      saving = { claims = 2.5e8, part = 0.4 } },
    { name = "sends that ranges call an exchange",
      facts = { window = { device_time = 1e9 }, family = { moe_routing = { per_step = 48 } }, ranges = { all_to_all = { count = 96 } },
                comm = { kinds = { { kind = "sendrecv", count = 96, time = 3e8, exposed = 2e8 } }, exposed = 2e8 } },
      expect = { share = 0.2, count = 96 } },
    { name = "sends of a pipeline",
      facts = { window = { device_time = 1e9 }, family = { moe_routing = { per_step = 48 } },
                comm = { kinds = { { kind = "sendrecv", count = 96, time = 3e8, exposed = 2e8 } }, exposed = 2e8 } },
      expect = "not_applicable" },
    { name = "exchanges of tables or of parts of a sequence",
      facts = { window = { device_time = 1e9 }, family = { moe_routing = { per_step = 0 } },
                comm = { kinds = { { kind = "alltoall", count = 96, time = 3e8, exposed = 2e8 } }, exposed = 2e8 } },
      expect = "not_applicable" },
    { name = "near miss: hidden",
      facts = { window = { device_time = 1e9 }, family = { moe_routing = { per_step = 48 } }, comm = { kinds = { { kind = "alltoall", count = 96, time = 3e8, exposed = 1e7 } }, exposed = 1e7 } },
      expect = "silent" },
    { name = "no all-to-all",
      facts = { window = { device_time = 1e9 }, family = { moe_routing = { per_step = 48 } }, comm = { kinds = { { kind = "allreduce", count = 1, time = 1e7, exposed = 0 } }, exposed = 0 } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
