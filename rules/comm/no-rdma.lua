-- Between nodes data goes from GPU memory to host memory and only then to the network card: NCCL's log says so, or a variable does.
-- Traffic of network cards alone proves nothing: on one node it is storage.
return {
  id        = "comm/no-rdma",
  title     = "Turn on GPUDirect RDMA between nodes",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 76,
  explains  = { "comm/exposed", "comm/full-link", "moe/exposed-all-to-all", "comm/dominates", "comm/low-bandwidth", "comm/slow-gradients", "topology/nccl-transport", "topology/nccl-environment" },
  knowledge = { "K-J2", "K-J4", "K-J5" },
  effort    = "flag",
  topic     = "switch",

  needs      = { "comm.count", "comm.exposed", "window.device_time", "nccl.remote.pairs", "nccl.remote.staged", "nccl.remote.gdr",
                 "nccl.remote.socket", "nccl.rdma_off", "comm.twice.remedy" },
  optional   = { "nccl.nodes" },
  thresholds = { "min_share" },

  symptom = "For {share:pct} of the time, only collectives run; {signal:text}.",
  cause   = "Data goes from GPU memory to host memory and only then to the network card. It crosses PCIe and host memory a second time, so the rate between nodes stays below the rate of the cards.",
  fixes   = {
    { action = "Look for the reason in NCCL's log; where the driver has no DMA-BUF (closed kernel modules), load the peer-memory module",
      snippet = "sudo modprobe nvidia_peermem   # not needed with DMA-BUF\nexport NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=NET,GRAPH",
      language = "bash" },
    { action = "Unset what keeps NCCL from using it; if GPU and card are on the same host bridge, allow that path", snippet = "unset NCCL_NET_GDR_LEVEL NCCL_NET_GDR_READ\nexport NCCL_NET_GDR_LEVEL=PHB     # only for the same host bridge",
      language = "bash" },
    { action = "Pair each GPU with a card behind the same PCIe switch", snippet = "nvidia-smi topo -m", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Systems whose cards or drivers do not support it.",
  references = { "nvidia/gpudirect-rdma", "nccl/environment" },

  applies = function(f)
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    if f.nccl.remote.pairs > 0 or (f.nccl.nodes or 1) > 1 then return true end
    return false, f.nccl.nodes and "all ranks are on one node" or "no log of NCCL shows what connects the ranks"
  end,

  detect = function(f, t)
    local exposed = share(f.comm.exposed.time, f.window.device_time)
    if not at_least(exposed, t.min_share) then return nil end
    if f.nccl.remote.socket > 0 then return nil end    -- another fault: comm/no-infiniband
    local signal = nil
    if f.nccl.remote.staged > 0 and f.nccl.remote.gdr == 0 then
      signal = "NCCL's log shows " .. tostring(f.nccl.remote.staged) .. " pairs of ranks on different nodes that do not use GPUDirect RDMA"
    elseif f.nccl.rdma_off and f.nccl.remote.gdr == 0 then
      signal = "an environment variable turns GPUDirect RDMA off"
    end
    if signal == nil then return nil end
    return { share = exposed, signal = signal, pairs = f.nccl.remote.staged }
  end,

  saving = { claims = "comm.exposed", remedy = "comm.twice.remedy", confidence = 0.4,
             basis = "collectives run at twice the rate, which is the most that the detour through host memory costs" },

  tests = {
    { name = "InfiniBand without GPUDirect RDMA",
      edges = { ["comm.exposed"] = 3e7 },
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 3e8, twice = { remedy = true } },
                nccl = { nodes = 2, rdma_off = false, remote = { pairs = 4, staged = 4, gdr = 0, socket = 0 } } },
      expect = { share = 0.3, pairs = 4 }, saving = { claims = 3e8, remedy = 1 } },
    { name = "near miss: with GPUDirect RDMA",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 3e8, twice = { remedy = true } },
                nccl = { nodes = 2, rdma_off = false, remote = { pairs = 4, staged = 0, gdr = 4, socket = 0 } } },
      expect = "silent" },
    { name = "near miss: sockets are another fault",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 3e8, twice = { remedy = true } },
                nccl = { nodes = 2, rdma_off = true, remote = { pairs = 4, staged = 0, gdr = 0, socket = 4 } } },
      expect = "silent" },
    { name = "one node",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 3e8, twice = { remedy = true } },
                nccl = { nodes = 1, rdma_off = true, remote = { pairs = 0, staged = 0, gdr = 0, socket = 0 } } },
      expect = "not_applicable" },
  },
}
