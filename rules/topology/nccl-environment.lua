-- Variables that take a fast path from NCCL, in its log or in the environment that the profiler recorded.
return {
  id        = "topology/nccl-environment",
  title     = "Unset the variables that keep NCCL off fast paths",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  explains  = { "topology/nccl-transport" },
  knowledge = { "K-J4" },
  effort    = "flag",
  observed  = "recorded",

  needs      = { "nccl.switch.count", "nccl.switch.rows" },
  optional   = { "comm.count", "run.devices", "nccl.ranks", "nccl.nodes", "nccl.pair.count" },
  thresholds = { "min_switches" },

  symptom = "With {names:text}, NCCL leaves out {paths:text}.",
  cause   = "Such settings are left over from debugging, or come from a template. They cost nothing on one GPU and much on many.",
  fixes   = {
    { action = "Unset them, and check that the job still runs", snippet = "unset NCCL_P2P_DISABLE NCCL_P2P_LEVEL NCCL_IB_DISABLE   # not NCCL_NET: it may load the plugin of the site", language = "bash" },
    { action = "If a bug on this system makes one necessary, document it, with the version that fixes the bug" },
  },
  false_positives = "A known fault of the system that the setting works around.",
  references = { "nccl/environment" },

  applies = function(f)
    if f.nccl.switch.count == 0 then return false, "no variable keeps NCCL off a fast path" end
    local several = (f.nccl.ranks or 0) > 1 or (f.run.devices or 0) > 1 or (f.comm.count or 0) > 0 or (f.nccl.pair.count or 0) > 0
    return several, "there is no sign of communication between GPUs"
  end,

  detect = function(f, t)
    -- Without RDMA between nodes there is nothing to lose on one node.
    local rows = f.nccl.switch.rows
    if f.nccl.nodes == 1 then
      rows = filter(rows, function(row) return starts_with(row.path, "peer") end)
    end
    if not at_least(#rows, t.min_switches) then return nil end
    local names, paths = {}, {}
    for _, row in ipairs(rows) do
      table.insert(names, row.name .. "=" .. row.value)
      table.insert(paths, row.path)
    end
    return { names = table.concat(names, ", "), paths = table.concat(paths, ", "), count = #rows, rows = rows }
  end,

  tests = {
    { name = "peer-to-peer switched off for four ranks",
      facts = { nccl = { ranks = 4, nodes = 1, switch = { count = 1, rows = {
        { name = "NCCL_P2P_DISABLE", value = "1", path = "peer-to-peer access in a node", source = "NCCL log" } } } } },
      expect = { names = "NCCL_P2P_DISABLE=1", paths = "peer-to-peer access in a node", count = 1, rows = 1 } },
    { name = "a log that starts behind the set-up: only its channels tell of several ranks",
      facts = { run = { devices = 0 }, comm = { count = 0 }, nccl = { ranks = 0, pair = { count = 4 }, switch = { count = 1, rows = {
        { name = "NCCL_P2P_DISABLE", value = "1", path = "peer-to-peer access in a node", source = "NCCL log" } } } } },
      expect = { names = "NCCL_P2P_DISABLE=1" } },
    { name = "near miss: no InfiniBand, on one node",
      facts = { nccl = { ranks = 4, nodes = 1, switch = { count = 1, rows = {
        { name = "NCCL_IB_DISABLE", value = "1", path = "InfiniBand and RoCE", source = "NCCL log" } } } } },
      expect = "silent" },
    { name = "set, but there is one GPU",
      facts = { run = { devices = 1 }, comm = { count = 0 }, nccl = { ranks = 0, switch = { count = 1, rows = {
        { name = "NCCL_IB_DISABLE", value = "1", path = "InfiniBand and RoCE", source = "environment of the run" } } } } },
      expect = "not_applicable" },
    { name = "nothing of the kind", facts = { nccl = { switch = { count = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
