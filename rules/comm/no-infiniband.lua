-- Ranks on several nodes talk over TCP sockets although the nodes have InfiniBand, or a variable switches it off.
-- Traffic of network cards alone proves nothing: on one node it is storage.
return {
  id        = "comm/no-infiniband",
  title     = "Let NCCL use InfiniBand between the nodes",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 77,
  explains  = { "comm/exposed", "comm/full-link", "moe/exposed-all-to-all", "comm/dominates", "topology/nccl-transport", "topology/nccl-environment" },
  knowledge = { "K-J2", "K-J4", "K-J5" },
  effort    = "flag",
  topic     = "switch",

  needs      = { "comm.count", "comm.port.remedy", "comm.exposed", "window.device_time", "nccl.remote.pairs", "nccl.remote.socket", "nccl.infiniband_off",
                 "topology.infiniband" },
  optional   = { "nccl.nodes", "nccl.network" },
  thresholds = { "min_share" },

  symptom = "For {share:pct} of the time, only collectives run, over TCP sockets between nodes{also:text}.",
  cause   = "TCP over Ethernet moves a few GB/s through the host's processors. An InfiniBand port moves 12 (HDR100) to 50 GB/s (NDR) without them.",
  fixes   = {
    { action = "Unset what keeps NCCL from using InfiniBand. Do not change NCCL_NET or NCCL_IB_HCA if the site sets them: they may load its plugin or choose its ports",
      snippet = "env | grep NCCL_\nunset NCCL_IB_DISABLE", language = "bash" },
    { action = "Check that the ports are active and visible inside the job or container", snippet = "ibstat\nls /dev/infiniband\ndocker run --device=/dev/infiniband --cap-add=IPC_LOCK ...",
      language = "bash" },
    { action = "In a cloud, load the provider's network plugin, and read in NCCL's log what it chose", snippet = "export NCCL_DEBUG=INFO", language = "bash" },
  },
  false_positives = "A port that belongs to storage and does not reach the other node.",
  references = { "nccl/environment", "nccl/troubleshooting" },

  applies = function(f)
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    if f.nccl.remote.pairs > 0 or (f.nccl.nodes or 1) > 1 then return true end
    return false, f.nccl.nodes and "all ranks are on one node" or "no log of NCCL shows what connects the ranks"
  end,

  detect = function(f, t)
    local exposed = share(f.comm.exposed.time, f.window.device_time)
    if not at_least(exposed, t.min_share) then return nil end
    local sockets = f.nccl.remote.socket > 0 or f.nccl.network == "Socket"
    if not sockets or not (f.topology.infiniband or f.nccl.infiniband_off) then return nil end
    return { share = exposed, pairs = f.nccl.remote.socket,
             also = f.nccl.infiniband_off and ": an environment variable turns InfiniBand off" or ", although a port is active" }
  end,

  saving = { claims = "comm.exposed", remedy = "comm.port.remedy", confidence = 0.6,
             basis = "collectives run at the rate of an InfiniBand port instead of a socket" },

  tests = {
    { name = "sockets, and a variable is the reason",
      edges = { ["comm.exposed"] = 3e7 },
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 5e8, port = { remedy = true } }, topology = { infiniband = false },
                nccl = { nodes = 2, network = "Socket", infiniband_off = true, remote = { pairs = 4, socket = 4 } } },
      expect = { share = 0.5, pairs = 4, also = ": an environment variable turns InfiniBand off" }, saving = { claims = 5e8, remedy = 1 } },
    { name = "sockets beside an active port",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 5e8, port = { remedy = true } }, topology = { infiniband = true },
                nccl = { nodes = 2, infiniband_off = false, remote = { pairs = 4, socket = 4 } } },
      expect = { also = ", although a port is active" } },
    { name = "near miss: sockets where there is nothing else",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 5e8, port = { remedy = true } }, topology = { infiniband = false },
                nccl = { nodes = 2, network = "Socket", infiniband_off = false, remote = { pairs = 4, socket = 4 } } },
      expect = "silent" },
    { name = "one node: traffic of the card is not communication",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 5e8, port = { remedy = true } }, topology = { infiniband = true },
                nccl = { nodes = 1, network = "Socket", infiniband_off = true, remote = { pairs = 0, socket = 0 } } },
      expect = "not_applicable" },
  },
}
