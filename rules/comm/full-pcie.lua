-- While one rank's collectives run, PCIe is full and NVLink is idle, although the GPU has it. Where its peers are is not known: on this
-- node, NCCL should use NVLink; on others, data goes through PCIe to the network card, and the card or the path to it is the limit.
return {
  id        = "comm/full-pcie",
  title     = "Find out why collectives go over PCIe: it is full, and NVLink is idle",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 75,
  explains  = { "comm/exposed", "comm/full-link", "comm/dominates" },
  knowledge = { "K-J1", "K-J3", "K-F6" },
  effort    = "flag",

  needs      = { "comm.count", "comm.exposed", "window.device_time", "run.devices", "nccl.ranks" },
  optional   = { "sample.comm.nvlink", "sample.comm.pcie", "sample.comm.samples", "hw.nvlink", "hw.host_link_bytes_per_s" },
  thresholds = { "min_share", "max_nvlink", "min_pcie", "min_samples", "of_nvlink" },

  symptom = "For {share:pct} of the time, only communication runs. Meanwhile, PCIe is at {pcie:pct} of its peak rate and NVLink at {nvlink:pct}.",
  cause   = "The data takes PCIe, which moves 16 to 64 GB/s. NVLink, which this GPU has, moves hundreds. Between nodes, PCIe to the network card is the usual path.",
  fixes   = {
    { action = "Read in NCCL's log which path it takes, and give that log to advise together with this report",
      snippet = "export NCCL_DEBUG=INFO NCCL_DEBUG_FILE=nccl.%h.%p.log", language = "bash" },
    { action = "If the peers are on this node, let NCCL use NVLink: unset what turns peer access off, and check the links",
      snippet = "unset NCCL_P2P_DISABLE NCCL_P2P_LEVEL\nnvidia-smi topo -m\nnvidia-smi topo -p2p r\nnvidia-smi nvlink --status", language = "bash", ["for"] = { "nvidia" } },
    { action = "If they are on other nodes, use GPUDirect RDMA and a network card near the GPU, and send fewer bytes" },
  },
  false_positives = "One GPU per node, or a board of this model without NVLink bridges: then PCIe is the only path.",
  references = { "nccl/environment", "nccl/troubleshooting" },

  applies = function(f)
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    if f.run.devices > 1 or f.nccl.ranks > 1 then return false, "it is known where the ranks are" end
    return f.sample.comm.pcie ~= nil and f.sample.comm.nvlink ~= nil, "no samples of PCIe and NVLink fell into communication"
  end,

  detect = function(f, t)
    local exposed = share(f.comm.exposed.time, f.window.device_time)
    if not at_least(exposed, t.min_share) then return nil end
    if (f.hw.nvlink or 0) == 0 or not at_least(f.sample.comm.samples or 0, t.min_samples) then return nil end
    if not at_most(f.sample.comm.nvlink, t.max_nvlink) or not at_least(f.sample.comm.pcie, t.min_pcie) then return nil end
    return { share = exposed, pcie = f.sample.comm.pcie, nvlink = f.sample.comm.nvlink }
  end,

  saving = function(f, t)
    local faster = math.max(0, 1 - (f.hw.host_link_bytes_per_s or 0) / (t.of_nvlink * f.hw.nvlink))
    return { claims = f.comm.exposed, part = faster, confidence = 0.4,
             basis = "the peers are on this node, and their exposed communication runs at NVLink's rate" }
  end,

  tests = {
    { name = "one rank's report: PCIe full, NVLink idle",
      edges = { ["comm.exposed"] = 3e7, ["sample.comm.nvlink"] = 0.02, ["sample.comm.pcie"] = 0.5, ["sample.comm.samples"] = 20 },
      facts = { window = { device_time = 1e9 }, run = { devices = 1 }, comm = { count = 19, exposed = 4.6e8 }, nccl = { ranks = 0 }, hw = { nvlink = 3e11, host_link_bytes_per_s = 2.1e10 },
                sample = { comm = { nvlink = 0, pcie = 0.87, samples = 400 } } },
      expect = { share = 0.46, pcie = 0.87, nvlink = 0 }, saving = { claims = 4.6e8, part = 0.9 } },
    { name = "near miss: a GPU without NVLink",
      facts = { window = { device_time = 1e9 }, run = { devices = 1 }, comm = { count = 19, exposed = 4.6e8 }, nccl = { ranks = 0 }, hw = {},
                sample = { comm = { nvlink = 0, pcie = 0.87, samples = 400 } } },
      expect = "silent" },
    { name = "near miss: waiting, with quiet links",
      facts = { window = { device_time = 1e9 }, run = { devices = 1 }, comm = { count = 19, exposed = 4.6e8 }, nccl = { ranks = 0 }, hw = { nvlink = 3e11, host_link_bytes_per_s = 2.1e10 },
                sample = { comm = { nvlink = 0, pcie = 0.1, samples = 400 } } },
      expect = "silent" },
    { name = "near miss: the collectives are hidden",
      facts = { window = { device_time = 1e9 }, run = { devices = 1 }, comm = { count = 19, exposed = 5e6 }, nccl = { ranks = 0 }, hw = { nvlink = 3e11, host_link_bytes_per_s = 2.1e10 },
                sample = { comm = { nvlink = 0, pcie = 0.87, samples = 400 } } },
      expect = "silent" },
    { name = "the log tells where ranks are", facts = { window = { device_time = 1e9 }, run = { devices = 1 }, comm = { count = 19, exposed = 4e8 }, nccl = { ranks = 8 },
      sample = { comm = { nvlink = 0, pcie = 0.87, samples = 400 } } }, expect = "not_applicable" },
    { name = "not sampled", facts = { window = { device_time = 1e9 }, run = { devices = 1 }, comm = { count = 19, exposed = 4e8 }, nccl = { ranks = 0 }, sample = { comm = {} } }, expect = "not_applicable" },
    { name = "no communication", facts = { window = { device_time = 1e9 }, run = { devices = 1 }, comm = { count = 0, exposed = 0 }, nccl = { ranks = 0 }, sample = { comm = {} } }, expect = "not_applicable" },
  },
}
