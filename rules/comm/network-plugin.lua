-- NCCL itself speaks InfiniBand, RoCE and TCP. On Slingshot and EFA it needs a plugin for libfabric, and falls back to sockets
-- without it. That such a network is there shows in the cards' names or in what libfabric is told to use.
local function fabric(f)
  local provider = (f.environment.fabric_provider or ""):lower()
  local name = nil
  if contains(provider, "cxi") then name = "Slingshot" elseif contains(provider, "efa") then name = "EFA" end
  for _, row in ipairs(f.topology.nic.rows or {}) do
    if matches(row.nic, "*cxi*") or matches(row.nic, "*hsn*") then name = "Slingshot" end
    if matches(row.nic, "*efa*") or matches(row.nic, "*rdmap*") then name = "EFA" end
  end
  return name
end

return {
  id        = "comm/network-plugin",
  title     = "Load NCCL's plugin for this network",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 77,
  explains  = { "comm/exposed", "comm/full-link", "moe/exposed-all-to-all", "comm/dominates", "comm/low-bandwidth", "comm/slow-gradients", "topology/nccl-transport" },
  knowledge = { "K-J2", "K-J4" },
  effort    = "flag",
  topic     = "switch",

  needs      = { "comm.count", "comm.port.remedy", "comm.exposed", "window.device_time", "nccl.remote.pairs", "nccl.remote.socket" },
  optional   = { "nccl.nodes", "nccl.network", "environment.fabric_provider", "topology.nic.rows" },
  thresholds = { "min_share" },

  symptom = "For {share:pct} of the time, only collectives run, over TCP sockets between nodes, although the nodes have {fabric:text}.",
  cause   = "NCCL itself speaks InfiniBand, RoCE and TCP. For Slingshot and EFA it needs a plugin for libfabric (aws-ofi-nccl). Without it, all data goes through the host's TCP stack.",
  fixes   = {
    { action  = "Load the plugin of the site, or install aws-ofi-nccl; name it, so that NCCL stops instead of falling back",
      snippet = "module load aws-ofi-nccl               # the name differs from site to site\nexport NCCL_NET=\"AWS Libfabric\"          # EFA needs no FI_PROVIDER, Slingshot does:\nexport FI_PROVIDER=cxi",
      language = "bash", ["for"] = { "nvidia" } },
    { action  = "Load RCCL's plugin for libfabric (aws-ofi-rccl)", snippet = "module load aws-ofi-rccl\nexport FI_PROVIDER=cxi", language = "bash", ["for"] = { "amd" } },
    { action = "In a container, mount the host's libfabric and the plugin, and put both on the library path" },
    { action = "Read in NCCL's log whether it was found", snippet = "export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET     # look for NET/Plugin and NET/OFI", language = "bash" },
  },
  false_positives = "A small part of the ranks that is outside of this network.",
  references = { "nccl/environment", "nccl/troubleshooting" },

  applies = function(f)
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    if f.nccl.remote.pairs == 0 and (f.nccl.nodes or 1) <= 1 then
      return false, f.nccl.nodes and "all ranks are on one node" or "no log of NCCL shows what connects the ranks"
    end
    return fabric(f) ~= nil, "nothing shows a network that needs a plugin"
  end,

  detect = function(f, t)
    local exposed = share(f.comm.exposed.time, f.window.device_time)
    if not at_least(exposed, t.min_share) then return nil end
    if f.nccl.remote.socket == 0 and f.nccl.network ~= "Socket" then return nil end
    return { share = exposed, fabric = fabric(f), pairs = f.nccl.remote.socket }
  end,

  saving = { claims = "comm.exposed", remedy = "comm.port.remedy", confidence = 0.5,
             basis = "collectives run at the rate of the network's ports instead of sockets" },

  tests = {
    { name = "sockets on Slingshot",
      edges = { ["comm.exposed"] = 3e7 },
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4e8, port = { remedy = true } }, environment = { fabric_provider = "cxi" },
                nccl = { network = "Socket", remote = { pairs = 2, socket = 2 } } },
      expect = { share = 0.4, fabric = "Slingshot" },
      saving = { claims = 4e8, remedy = 1 } },
    { name = "sockets on EFA, told by the cards",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4e8, port = { remedy = true } }, topology = { nic = { rows = { { gpu = "GPU0", nic = "rdmap16s27", path = "PIX" } } } },
                nccl = { network = "Socket", remote = { pairs = 0, socket = 0 }, nodes = 2 } },
      expect = { fabric = "EFA" } },
    { name = "near miss: the plugin is loaded",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4e8, port = { remedy = true } }, environment = { fabric_provider = "cxi" },
                nccl = { network = "AWS Libfabric", remote = { pairs = 2, socket = 0 } } },
      expect = "silent" },
    { name = "near miss: hardly any exposed communication",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 1e7, port = { remedy = true } }, environment = { fabric_provider = "cxi" },
                nccl = { network = "Socket", remote = { pairs = 2, socket = 2 } } },
      expect = "silent" },
    { name = "InfiniBand, which needs no plugin",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4e8, port = { remedy = true } }, nccl = { network = "Socket", remote = { pairs = 2, socket = 2 } } },
      expect = "not_applicable" },
    { name = "one node",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4e8, port = { remedy = true } }, environment = { fabric_provider = "cxi" },
                nccl = { remote = { pairs = 0, socket = 0 } } },
      expect = "not_applicable" },
    { name = "no log of NCCL", facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4e8, port = { remedy = true } } }, expect = "cannot_tell" },
  },
}
