-- NCCL's own log says which way ranks talk. Host memory or the network inside a node, and sockets or staging between nodes, are slow.
-- What it costs a timeline says (comm/no-nvlink, comm/no-rdma, comm/no-infiniband).
return {
  id        = "topology/nccl-transport",
  title     = "Find out why NCCL does not take the fast path",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  knowledge = { "K-J4", "K-J1", "K-J2" },
  effort    = "flag",
  observed  = "recorded",

  needs      = { "nccl.pair.count", "nccl.local.peer", "nccl.local.shared", "nccl.local.net", "nccl.remote.pairs", "nccl.remote.staged",
                 "nccl.remote.socket", "nccl.pair.rows" },
  optional   = { "nccl.no_adapter", "nccl.rdma_refused", "nccl.switch.text" },
  thresholds = { "min_slow" },

  symptom = "NCCL uses a slow path between {slow:count} of {pairs:count} pairs of ranks: {paths:text} (for example {a:text} and {b:text} over {path:text}).{says:text}",
  cause   = "NCCL takes the best path that is available: peer-to-peer inside a node, RDMA from GPU memory between nodes. Here that path was turned off or missing.",
  fixes   = {
    { reason = "no-adapter", action = "Make the adapters visible to the job: NCCL found none. Containers need /dev/infiniband and the user-space drivers",
      snippet = "ibstat; ls /dev/infiniband            # in the job, not on the host\ndocker run --device=/dev/infiniband --ulimit memlock=-1 --network=host IMAGE", language = "bash" },
    { reason = "rdma-refused", action = "Have GPUDirect RDMA set up: NCCL says that it is off. It needs DMA-BUF (open kernel modules, Linux 5.12 and later) or else the peer-memory module",
      snippet = "modinfo -F license nvidia            # Dual MIT/GPL: open modules, DMA-BUF works\nlsmod | grep -e nvidia_peermem       # else: sudo modprobe nvidia_peermem", language = "bash", ["for"] = { "nvidia" } },
    { reason = "variable", action = "Unset the variable that NCCL's log names, and check that the job still runs", snippet = "env | grep NCCL_", language = "bash" },
    { reason = "unknown", action = "Read NCCL's own reasons in a log of these parts", snippet = "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,NET", language = "bash" },
    { action = "Inside a node, unset NCCL_P2P_DISABLE and NCCL_P2P_LEVEL, check peer access, and give containers shared memory and all GPUs",
      snippet = "unset NCCL_P2P_DISABLE NCCL_P2P_LEVEL\nnvidia-smi topo -p2p r", language = "bash", ["for"] = { "nvidia" } },
    { action = "Between nodes, unset NCCL_IB_DISABLE and check that the job sees the adapters. GPUDirect RDMA needs DMA-BUF (open kernel modules, Linux 5.12 and later) or else the peer-memory module",
      snippet = "unset NCCL_IB_DISABLE\nibstat\nmodinfo -F license nvidia            # Dual MIT/GPL: open modules, DMA-BUF works\nlsmod | grep -e nvidia_peermem       # else this module must be loaded", language = "bash" },
  },
  false_positives = "Nodes without NVLink whose cards do not support peer access. Clusters without InfiniBand.",
  references = { "nccl/environment", "nccl/troubleshooting", "nvidia/gpudirect-rdma" },

  applies = function(f) return f.nccl.pair.count > 0, "no NCCL log shows how ranks communicate" end,

  detect = function(f, t)
    local nccl = f.nccl
    local slow = nccl["local"].shared + nccl["local"].net + nccl.remote.staged + nccl.remote.socket
    if not at_least(slow, t.min_slow) then return nil end
    local words = {}
    local function say(count, what)
      if count > 0 then table.insert(words, tostring(count) .. " " .. what) end
    end
    say(nccl["local"].shared, "through host memory in a node")
    say(nccl["local"].net, "through the network in a node")
    say(nccl.remote.staged, "without GPUDirect RDMA between nodes")
    say(nccl.remote.socket, "over sockets between nodes")
    local first = nccl.pair.rows[1]
    -- What the log itself gives as the reason.
    local reason, says = "unknown", ""
    if nccl.remote.socket > 0 and nccl.no_adapter then
      reason, says = "no-adapter", " The log says that NCCL found no adapter for InfiniBand."
    elseif nccl.remote.staged > 0 and nccl.rdma_refused then
      reason, says = "rdma-refused", " The log says that GPUDirect RDMA is off for the adapters."
    elseif nccl.switch.text then
      reason, says = "variable", " The log says that " .. nccl.switch.text .. " is set."
    end
    return { slow = slow, pairs = nccl.pair.count, paths = table.concat(words, ", "), a = first.a, b = first.b, path = first.path, reason = reason, says = says,
             rows = nccl.pair.rows }
  end,

  tests = {
    { name = "host memory in the node",
      edges = { ["nccl.local.shared"] = 1 },
      facts = { nccl = { pair = { count = 8, rows = { { a = "rank 0", b = "rank 1", path = "SHM/direct", of = "in a node" } } },
                         ["local"] = { peer = 0, shared = 8, net = 0 }, remote = { pairs = 0, staged = 0, socket = 0 } } },
      expect = { slow = 8, pairs = 8, paths = "8 through host memory in a node", a = "rank 0", b = "rank 1", path = "SHM/direct", rows = 1 } },
    { name = "sockets between nodes",
      facts = { nccl = { pair = { count = 4, rows = { { a = "rank 1", b = "rank 2", path = "NET/Socket/0", of = "between nodes" } } },
                         ["local"] = { peer = 2, shared = 0, net = 0 }, remote = { pairs = 2, staged = 0, socket = 2 } } },
      expect = { slow = 2, paths = "2 over sockets between nodes" } },
    { name = "the log says why: no adapter",
      facts = { nccl = { pair = { count = 4, rows = { { a = "rank 1", b = "rank 2", path = "NET/Socket/0", of = "between nodes" } } }, no_adapter = true,
                         ["local"] = { peer = 2, shared = 0, net = 0 }, remote = { pairs = 2, staged = 0, socket = 2 } } },
      expect = { reason = "no-adapter", says = " The log says that NCCL found no adapter for InfiniBand." } },
    { name = "the log says why: GPUDirect RDMA is off",
      facts = { nccl = { pair = { count = 4, rows = { { a = "rank 1", b = "rank 2", path = "NET/IB/0", of = "between nodes" } } }, rdma_refused = true,
                         ["local"] = { peer = 2, shared = 0, net = 0 }, remote = { pairs = 2, staged = 2, socket = 0 } } },
      expect = { reason = "rdma-refused" } },
    { name = "the log says why: a variable",
      facts = { nccl = { pair = { count = 4, rows = { { a = "rank 1", b = "rank 2", path = "SHM/direct", of = "in a node" } } }, switch = { text = "NCCL_P2P_DISABLE=1" },
                         ["local"] = { peer = 0, shared = 4, net = 0 }, remote = { pairs = 0, staged = 0, socket = 0 } } },
      expect = { reason = "variable", says = " The log says that NCCL_P2P_DISABLE=1 is set." } },
    { name = "near miss: peer-to-peer and GPUDirect RDMA throughout",
      facts = { nccl = { pair = { count = 8, rows = {} }, ["local"] = { peer = 6, shared = 0, net = 0 },
                         remote = { pairs = 2, staged = 0, socket = 0 } } },
      expect = "silent" },
    { name = "no log", facts = { nccl = { pair = { count = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
