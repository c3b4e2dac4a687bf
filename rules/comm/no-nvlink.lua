-- GPUs of a node have NVLink, and their collectives do not use it: from samples (PCIe busy, NVLink still), from NCCL's log (host memory or
-- network between ranks of a node), or from a variable that switches peer-to-peer off. Only with evidence that NVLink is there.
return {
  id        = "comm/no-nvlink",
  title     = "Let collectives inside a node use NVLink",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 76,
  explains  = { "comm/exposed", "comm/full-link", "comm/dominates", "topology/nccl-transport", "topology/nccl-environment" },
  knowledge = { "K-J1", "K-J3", "K-J4", "K-N7", "K-F6" },
  effort    = "flag",

  needs      = { "comm.count", "comm.exposed", "window.device_time", "run.devices", "nccl.ranks", "nccl.local.peer", "nccl.local.shared",
                 "nccl.local.net", "nccl.peer_off", "topology.nvlink.pairs" },
  optional   = { "sample.comm.nvlink", "sample.comm.pcie", "sample.comm.samples", "hw.nvlink" },
  thresholds = { "min_share", "max_nvlink", "min_pcie", "min_samples", "winnable" },

  symptom = "For {share:pct} of the time, only collectives run, and they do not use NVLink: {signal:text}.",
  cause   = "Between two GPUs, PCIe through the host moves about 16 GB/s and PCIe peer-to-peer about 32 GB/s. NVLink moves hundreds.",
  fixes   = {
    { action = "Unset what keeps NCCL from using NVLink", snippet = "env | grep NCCL_P2P\nunset NCCL_P2P_DISABLE NCCL_P2P_LEVEL", language = "bash" },
    { action = "Check that each process sees all GPUs of the node, that peer access is OK, and that the links are up",
      snippet = "nvidia-smi topo -m\nnvidia-smi topo -p2p r\nnvidia-smi nvlink --status", language = "bash", ["for"] = { "nvidia" } },
    { action = "In a container, share the process and IPC namespaces, and do not hide GPUs from ranks", snippet = "docker run --ipc=host --gpus all ...",
      language = "bash" },
  },
  false_positives = "A node whose GPUs have no NVLink, although the same model elsewhere has.",
  references = { "nccl/environment", "nccl/troubleshooting" },

  applies = function(f)
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    return f.run.devices > 1 or f.nccl.ranks > 1, "only one GPU was recorded"
  end,

  detect = function(f, t)
    local exposed = share(f.comm.exposed.time, f.window.device_time)
    if not at_least(exposed, t.min_share) then return nil end
    local nvlink, pcie = f.sample.comm.nvlink, f.sample.comm.pcie
    local has_nvlink = f.topology.nvlink.pairs > 0 or (f.hw.nvlink or 0) > 0
    if has_nvlink and nvlink and pcie and at_least(f.sample.comm.samples, t.min_samples) then
      -- Boards without NVLink report no traffic on it, too. Where it is there, what samples say of this very time wins.
      if not at_most(nvlink, t.max_nvlink) or not at_least(pcie, t.min_pcie) then return nil end
      return { share = exposed, signal = "samples show that NVLink is idle and PCIe is busy", nvlink = nvlink, pcie = pcie }
    end
    local slow = f.nccl["local"].shared + f.nccl["local"].net
    if slow > 0 and f.nccl["local"].peer == 0 and has_nvlink then
      return { share = exposed, signal = "NCCL's log shows " .. tostring(slow) .. " pairs of ranks in a node that use host memory or the network" }
    end
    if f.nccl.peer_off and has_nvlink then
      return { share = exposed, signal = "an environment variable turns peer-to-peer access off" }
    end
    return nil
  end,

  saving = { claims = "comm.exposed", part = "winnable", confidence = 0.5,
             basis = "exposed communication, less waiting and latency, runs at NVLink's rate instead of PCIe's" },

  tests = {
    { name = "samples: PCIe busy, NVLink still",
      edges = { ["comm.exposed"] = 3e7, ["sample.comm.nvlink"] = 0.02, ["sample.comm.pcie"] = 0.1, ["sample.comm.samples"] = 20 },
      facts = { window = { device_time = 1e9 }, run = { devices = 4 }, comm = { count = 100, exposed = 4e8 }, topology = { nvlink = { pairs = 6 } },
                nccl = { ranks = 0, peer_off = false, ["local"] = { peer = 0, shared = 0, net = 0 } },
                sample = { comm = { nvlink = 0.0, pcie = 0.6, samples = 400 } } },
      expect = { share = 0.4, nvlink = 0, pcie = 0.6 }, saving = { claims = 4e8, part = 0.7 } },
    { name = "the log: host memory between GPUs that the matrix connects",
      facts = { window = { device_time = 1e9 }, run = { devices = 1 }, comm = { count = 100, exposed = 4e8 }, topology = { nvlink = { pairs = 6 } },
                nccl = { ranks = 4, peer_off = true, ["local"] = { peer = 0, shared = 8, net = 0 } }, sample = { comm = {} } },
      expect = { share = 0.4, signal = "NCCL's log shows 8 pairs of ranks in a node that use host memory or the network" } },
    { name = "near miss: PCIe boards, whose samples of NVLink are 0",
      facts = { window = { device_time = 1e9 }, run = { devices = 4 }, comm = { count = 100, exposed = 4e8 }, topology = { nvlink = { pairs = 0 } },
                nccl = { ranks = 0, peer_off = false, ["local"] = { peer = 0, shared = 0, net = 0 } },
                sample = { comm = { nvlink = 0.0, pcie = 0.6, samples = 400 } } },
      expect = "silent" },
    { name = "near miss: NVLink is in use",
      facts = { window = { device_time = 1e9 }, run = { devices = 4 }, comm = { count = 100, exposed = 4e8 }, topology = { nvlink = { pairs = 6 } },
                nccl = { ranks = 4, peer_off = false, ["local"] = { peer = 8, shared = 0, net = 0 } },
                sample = { comm = { nvlink = 0.4, pcie = 0.1, samples = 400 } } },
      expect = "silent" },
    { name = "near miss: host memory, but the GPUs have no NVLink",
      facts = { window = { device_time = 1e9 }, run = { devices = 4 }, comm = { count = 100, exposed = 4e8 }, topology = { nvlink = { pairs = 0 } },
                nccl = { ranks = 4, peer_off = false, ["local"] = { peer = 0, shared = 8, net = 0 } }, sample = { comm = {} } },
      expect = "silent" },
    { name = "near miss: the collectives are hidden",
      facts = { window = { device_time = 1e9 }, run = { devices = 4 }, comm = { count = 100, exposed = 5e6 }, topology = { nvlink = { pairs = 6 } },
                nccl = { ranks = 4, peer_off = true, ["local"] = { peer = 0, shared = 8, net = 0 } }, sample = { comm = {} } },
      expect = "silent" },
    { name = "no communication",
      facts = { window = { device_time = 1e9 }, run = { devices = 4 }, comm = { count = 0, exposed = 0 } }, expect = "not_applicable" },
  },
}
