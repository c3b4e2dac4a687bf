-- A port of an InfiniBand adapter is down, or came up slower than its neighbors.
return {
  id        = "topology/ib-port",
  title     = "Have the network port repaired",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  knowledge = { "K-J6", "K-J2" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "hardware",

  needs      = { "topology.port.count", "topology.port.down", "topology.port.slow", "topology.port.rows", "topology.infiniband" },
  optional   = { "topology.port.usable" },
  thresholds = { "min_ports" },

  symptom = "Of {ports:count} network ports, {count:count} {are:text} worse than the rest: {listed:text}.{usable_text:text}",
  cause   = "The cause is a cable, a transceiver or the port of the switch. Traffic moves to the other ports, and collectives run at the rate of the slowest one.",
  fixes   = {
    { action = "Look at its state and error counters, and tell the administrators", snippet = "ibstat\nibqueryerrors", language = "bash" },
    { reason = "some", action = "Until then, exclude the node, or let NCCL use the good ports only", snippet = "export NCCL_IB_HCA={usable:code}", language = "bash" },
    { reason = "none", action = "Until then, exclude the node" },
  },
  false_positives = "Ports that are not cabled on purpose.",
  references = { "nccl/environment" },

  applies = function(f) return f.topology.port.count > 0, "no ports were listed (ibstat)" end,

  detect = function(f, t)
    -- Where nothing is active, InfiniBand is not what this node uses.
    if not f.topology.infiniband then return nil end
    local count = f.topology.port.down + f.topology.port.slow
    if not at_least(count, t.min_ports) then return nil end
    local rows = f.topology.port.rows
    local listed = {}
    for _, row in ipairs(rows) do
      table.insert(listed, row.port .. " is " .. row.what .. " (" .. row.state .. ", " .. in_words(row.rate, "num") .. " Gbit/s)")
    end
    local usable = f.topology.port.usable
    return { count = count, ports = f.topology.port.count, are = count == 1 and "is" or "are", listed = table.concat(listed, "; "), usable = usable or "",
             usable_text = usable and " Healthy: " .. usable .. "." or "", reason = usable and "some" or "none", rows = rows }
  end,

  tests = {
    { name = "one port of four came up at a quarter of the rate",
      facts = { topology = { infiniband = true, port = { count = 4, down = 0, slow = 1, usable = "mlx5_0,mlx5_1,mlx5_3", rows = {
        { port = "mlx5_2 port 1", what = "slower than its neighbors", state = "Active", rate = 100, link = "InfiniBand" } } } } },
      expect = { count = 1, ports = 4, listed = "mlx5_2 port 1 is slower than its neighbors (Active, 100 Gbit/s)", usable = "mlx5_0,mlx5_1,mlx5_3",
                 usable_text = " Healthy: mlx5_0,mlx5_1,mlx5_3.", reason = "some", rows = 1 } },
    { name = "one is down and one is slow: both are named",
      facts = { topology = { infiniband = true, port = { count = 3, down = 1, slow = 1, usable = "mlx5_0", rows = {
        { port = "mlx5_1 port 1", what = "not active", state = "Down", rate = 10, link = "InfiniBand" },
        { port = "mlx5_2 port 1", what = "slower than its neighbors", state = "Active", rate = 100, link = "InfiniBand" } } } } },
      expect = { count = 2, usable = "mlx5_0",
                 listed = "mlx5_1 port 1 is not active (Down, 10 Gbit/s); mlx5_2 port 1 is slower than its neighbors (Active, 100 Gbit/s)" } },
    { name = "near miss: all alike", facts = { topology = { infiniband = true, port = { count = 4, down = 0, slow = 0, rows = {} } } },
      expect = "silent" },
    { name = "near miss: nothing is cabled",
      facts = { topology = { infiniband = false, port = { count = 2, down = 2, slow = 0, rows = {
        { port = "mlx5_0 port 1", what = "not active", state = "Down", rate = 10, link = "InfiniBand" } } } } },
      expect = "silent" },
    { name = "no ports were listed", facts = { topology = { port = { count = 0, down = 0, slow = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
