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
  thresholds = { "min_ports" },

  symptom = "Network port {port:text} is {what:text} (state {state:text}, {rate:num} Gbit/s). Ports that differ from the rest: {count:count} of {ports:count}.",
  cause   = "The cause is a cable, a transceiver or the port of the switch. Traffic moves to the other ports, and collectives run at the rate of the slowest one.",
  fixes   = {
    { action = "Look at its state and error counters, and tell the administrators", snippet = "ibstat\nibqueryerrors", language = "bash" },
    { action = "Until then, exclude the node, or tell NCCL which ports to use", snippet = "export NCCL_IB_HCA=mlx5_0,mlx5_1", language = "bash" },
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
    return { count = count, ports = f.topology.port.count, port = rows[1].port, what = rows[1].what, state = rows[1].state, rate = rows[1].rate,
             rows = rows }
  end,

  tests = {
    { name = "one port of four came up at a quarter of the rate",
      facts = { topology = { infiniband = true, port = { count = 4, down = 0, slow = 1, rows = {
        { port = "mlx5_2 port 1", what = "slower than its neighbors", state = "Active", rate = 100, link = "InfiniBand" } } } } },
      expect = { count = 1, ports = 4, port = "mlx5_2 port 1", rate = 100, rows = 1 } },
    { name = "near miss: all alike", facts = { topology = { infiniband = true, port = { count = 4, down = 0, slow = 0, rows = {} } } },
      expect = "silent" },
    { name = "near miss: nothing is cabled",
      facts = { topology = { infiniband = false, port = { count = 2, down = 2, slow = 0, rows = {
        { port = "mlx5_0 port 1", what = "not active", state = "Down", rate = 10, link = "InfiniBand" } } } } },
      expect = "silent" },
    { name = "no ports were listed", facts = { topology = { port = { count = 0, down = 0, slow = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
