-- The driver says that GPUs may not access each other's memory. Then every exchange in the node goes through the host.
return {
  id        = "topology/p2p-disabled",
  title     = "Allow the GPUs to access each other's memory",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  explains  = { "topology/nccl-transport" },
  knowledge = { "K-J6", "K-J1" },
  effort    = "flag",
  observed  = "recorded",

  needs      = { "topology.p2p.known", "topology.p2p.bad", "topology.p2p.rows" },
  thresholds = { "min_bad" },

  symptom = "Peer access between GPUs is missing in {bad:count} directions ({a:text} to {b:text}: {status:text}, {meaning:text}).",
  cause   = "Without peer access, a copy between GPUs is staged through host memory, at half the rate of PCIe or less.",
  fixes   = {
    { action = "For CNS or TNS, look at address translation (IOMMU) and PCIe access control in firmware and kernel; ask the administrators",
      snippet = "nvidia-smi topo -p2p r\nnvidia-smi topo -p2p w\ncat /proc/cmdline    # iommu=…", language = "bash", ["for"] = { "nvidia" } },
    { action = "In a container or virtual machine, pass through all GPUs of the node and their switch" },
    { action = "For GNS or NS, the card does not support it (consumer cards): plan for less communication, with larger micro-batches and gradient accumulation" },
  },
  false_positives = "Jobs that never exchange data between these GPUs.",
  references = { "nccl/troubleshooting" },

  applies = function(f) return f.topology.p2p.known, "no peer-access matrix was given" end,

  detect = function(f, t)
    local p2p = f.topology.p2p
    if not at_least(p2p.bad, t.min_bad) then return nil end
    local words = { CNS = "not supported by the chipset", GNS = "not supported by the GPU", TNS = "not supported by this wiring",
                    NS = "not supported", DR = "disabled by a setting of the driver", U = "unknown" }
    local first = p2p.rows[1]
    return { bad = p2p.bad, a = first.a, b = first.b, status = first.path, meaning = words[first.path] or "not OK", rows = p2p.rows }
  end,

  tests = {
    { name = "the chipset does not allow it",
      edges = { ["topology.p2p.bad"] = 1 },
      facts = { topology = { p2p = { known = true, bad = 2, rows = { { a = "GPU0", b = "GPU1", path = "CNS", of = "p2p_read" },
                                                                     { a = "GPU1", b = "GPU0", path = "CNS", of = "p2p_read" } } } } },
      expect = { bad = 2, a = "GPU0", b = "GPU1", status = "CNS", meaning = "not supported by the chipset", rows = 2 } },
    { name = "near miss: all are OK", facts = { topology = { p2p = { known = true, bad = 0, rows = {} } } }, expect = "silent" },
    { name = "no matrix", facts = { topology = { p2p = { known = false, bad = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
