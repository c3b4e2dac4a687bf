-- While ranks wait for communication, one network card carries all of it and another is idle: NCCL uses the slower network, or one port
-- of several. Cards that are not InfiniBand may belong to storage or to users, so idle Ethernet beside busy InfiniBand says nothing.
return {
  id        = "comm/idle-port",
  title     = "Let NCCL use the network port that is idle",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 78,
  explains  = { "comm/exposed", "comm/full-link", "comm/dominates" },
  knowledge = { "K-J3", "K-J5", "K-J2" },
  effort    = "flag",

  needs      = { "comm.count", "comm.exposed", "window.device_time", "sample.port.count", "sample.port.rows" },
  optional   = { "nccl.nodes", "sample.comm.nic", "comm.port.remedy", "comm.twice.remedy" },
  thresholds = { "min_share", "min_rate", "min_rise", "min_back", "max_tcp", "infiniband_rate", "slow_part", "port_part" },

  symptom = "While only communication runs ({share:pct} of the time), {busy:text} moves up to {rate:rate} per direction, and {idle:text} hardly anything.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "rdma", action = "Read in NCCL's log which network it uses, and compare the rates of both cards",
      snippet = "ibstat | grep -E \"^CA|Rate|Link layer\"\nexport NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET", language = "bash", ["for"] = { "nvidia" } },
    { reason = "rdma", action = "If InfiniBand is the faster one, name its cards to NCCL", snippet = "export NCCL_IB_HCA={cards:code}", language = "bash" },
    { reason = "ethernet", action = "Find out in NCCL's log why it does not use InfiniBand: a variable, a missing plugin, or devices that the container hides",
      snippet = "env | grep NCCL_\nls /dev/infiniband\nexport NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET", language = "bash" },
    { reason = "ethernet", action = "Name the InfiniBand cards to NCCL, and unset the variable that turns InfiniBand off", snippet = "unset NCCL_IB_DISABLE\nexport NCCL_IB_HCA={cards:code}", language = "bash" },
    { reason = "port", action = "Let NCCL use all ports that reach the other nodes", snippet = "export NCCL_IB_HCA={cards:code}", language = "bash" },
    { reason = "port", action = "Check that the idle port is active, cabled to the same network, and near a GPU", snippet = "ibstat\nnvidia-smi topo -m", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "A port that belongs to storage, or to GPUs of ranks that were not recorded. Ranks on one node, whose traffic takes no network card.",
  references = { "nccl/environment", "nccl/troubleshooting" },

  applies = function(f)
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    if f.nccl.nodes == 1 then return false, "all ranks are on one node" end
    return f.sample.port.count > 1, "the counters of several network ports were not sampled"
  end,

  detect = function(f, t)
    local exposed = share(f.comm.exposed.time, f.window.device_time)
    if not at_least(exposed, t.min_share) then return nil end
    local busiest = f.sample.port.rows[1]
    if not at_least(busiest.rate, t.min_rate) then return nil end
    -- Storage moves data whether ranks communicate or not, and mostly one way. Collectives send about as much as they receive.
    local moved = sum(f.sample.port.rows, "rate")
    local both_ways = at_least(share((f.sample.comm.nic or moved) - moved, moved), t.min_back)
    if busiest.without >= 0 and not both_ways and not at_least(share(busiest.rate, busiest.without + busiest.rate), t.min_rise) then return nil end
    local idle = filter(f.sample.port.rows, function(row) return row.idle == 1 and row.link == "InfiniBand" end)
    if #idle == 0 then return nil end
    local other = busiest.link ~= "InfiniBand"
    local ethernet = other and at_most(busiest.rate, t.max_tcp)
    local rdma = other and not ethernet
    local names, cards = {}, {}
    for _, row in ipairs(f.sample.port.rows) do
      local known = false
      for _, one in ipairs(cards) do known = known or one == row.card end
      if row.link == "InfiniBand" and not known then table.insert(cards, row.card) end
      if row.link == "InfiniBand" and row.idle == 1 then table.insert(names, row.port) end
    end
    local listed = table.concat(names, ", ")
    return { share = exposed, busy = busiest.port .. (other and " (Ethernet)" or ""), rate = busiest.rate, idle = listed .. (other and " (InfiniBand)" or ""),
             cards = table.concat(cards, ","), reason = ethernet and "ethernet" or rdma and "rdma" or "port",
             why = ethernet and "NCCL uses the Ethernet card, probably through TCP sockets and the host's CPUs. An InfiniBand port moves 12 to 50 GB/s without them."
                   or rdma and "The Ethernet card moves more than TCP sockets do, so NCCL probably uses RDMA over Ethernet (RoCE). Only the rates of both cards tell what InfiniBand would win."
                   or "All traffic shares one port. NCCL spreads traffic over all ports that it may use and that are near the GPUs.",
             part = ethernet and math.min(t.slow_part, 1 - busiest.rate / t.infiniband_rate) or not rdma and t.port_part or 0 }
  end,

  saving = function(f, t, e)
    if e.part == 0 then return nil end
    -- What already overlaps gets shorter, too: the run is replayed at the higher rate where that is known.
    local remedy = at_least(e.part, t.slow_part) and f.comm.port.remedy or f.comm.twice.remedy
    return { claims = f.comm.exposed, remedy = remedy, part = not remedy and e.part or nil, confidence = 0.5,
             basis = e.reason == "ethernet" and "most of the exposed communication is gone at the rate of InfiniBand"
                     or "the exposed communication is spread over one more port" }
  end,

  tests = {
    { name = "Ethernet carries all", edges = { ["comm.exposed"] = 3e7, ["sample.port.rows[1].rate"] = 1e8 },
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4.6e8 },
                sample = { port = { count = 2, rows = { { port = "eth0 port 1", card = "eth0", link = "Ethernet", rate = 1.1e9, without = 0, idle = 0 }, { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 0, without = 0, idle = 1 } } } } },
      expect = { share = 0.46, busy = "eth0 port 1 (Ethernet)", idle = "mlx5_0 port 1 (InfiniBand)", cards = "mlx5_0", reason = "ethernet" }, saving = { claims = 4.6e8, part = 0.7 } },
    { name = "TCP at a rate that comes nearer to that of InfiniBand", edges = { ["sample.port.rows[1].rate"] = 6e9 },
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4.6e8 },
                sample = { port = { count = 2, rows = { { port = "eth0 port 1", card = "eth0", link = "Ethernet", rate = 4.8e9, without = 0, idle = 0 }, { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 0, without = 0, idle = 1 } } } } },
      expect = { reason = "ethernet" }, saving = { claims = 4.6e8, part = 0.6 } },
    { name = "RDMA over Ethernet: what InfiniBand would win is not known",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4.6e8 },
                sample = { port = { count = 2, rows = { { port = "mlx5_2 port 1", card = "mlx5_2", link = "Ethernet", rate = 2.1e10, without = 0, idle = 0 }, { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 0, without = 0, idle = 1 } } } } },
      expect = { reason = "rdma", busy = "mlx5_2 port 1 (Ethernet)", part = 0 }, saving = { claims = 0 } },
    { name = "one of two ports",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4.6e8 },
                sample = { port = { count = 2, rows = { { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 2.4e10, without = 0, idle = 0 }, { port = "mlx5_1 port 1", card = "mlx5_1", link = "InfiniBand", rate = 0, without = 0, idle = 1 } } } } },
      expect = { busy = "mlx5_0 port 1", idle = "mlx5_1 port 1", cards = "mlx5_0,mlx5_1", reason = "port" }, saving = { claims = 4.6e8, part = 0.5 } },
    { name = "two ports, replayed at twice the rate",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4.6e8, port = { remedy = true }, twice = { remedy = true } },
                sample = { port = { count = 2, rows = { { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 2.4e10, without = 0, idle = 0 }, { port = "mlx5_1 port 1", card = "mlx5_1", link = "InfiniBand", rate = 0, without = 0, idle = 1 } } } } },
      expect = { reason = "port" }, saving = { claims = 4.6e8, remedy = 1 } },
    { name = "near miss: Ethernet is idle, as it should be",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4.6e8 },
                sample = { port = { count = 2, rows = { { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 2.4e10, without = 0, idle = 0 }, { port = "eth0 port 1", card = "eth0", link = "Ethernet", rate = 0, without = 0, idle = 1 } } } } },
      expect = "silent" },
    { name = "near miss: hardly any traffic at all, on one node",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4.6e8 },
                sample = { port = { count = 2, rows = { { port = "eth0 port 1", card = "eth0", link = "Ethernet", rate = 1e5, without = 0, idle = 0 }, { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 0, without = 0, idle = 1 } } } } },
      expect = "silent" },
    { name = "Ethernet carries as much all the time, as much back as forth", edges = { ["sample.comm.nic"] = 1.98e9 },
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4.6e8 },
                sample = { comm = { nic = 2.2e9 }, port = { count = 2, rows = { { port = "eth0 port 1", card = "eth0", link = "Ethernet", rate = 1.1e9, without = 1.1e9, idle = 0 }, { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 0, without = 0, idle = 1 } } } } },
      expect = { reason = "ethernet", cards = "mlx5_0" } },
    { name = "Ethernet moves a little without communication, too", edges = { ["sample.port.rows[1].without"] = 3.6667e8 },
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4.6e8 },
                sample = { port = { count = 2, rows = { { port = "eth0 port 1", card = "eth0", link = "Ethernet", rate = 1.1e9, without = 2e8, idle = 0 }, { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 0, without = 0, idle = 1 } } } } },
      expect = { reason = "ethernet" } },
    { name = "near miss: storage, which moves as much without communication",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4.6e8 },
                sample = { port = { count = 2, rows = { { port = "eth0 port 1", card = "eth0", link = "Ethernet", rate = 1.1e9, without = 1e9, idle = 0 }, { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 0, without = 0, idle = 1 } } } } },
      expect = "silent" },
    { name = "near miss: the collectives are hidden",
      facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 5e6 },
                sample = { port = { count = 2, rows = { { port = "eth0 port 1", card = "eth0", link = "Ethernet", rate = 1e9, without = 0, idle = 0 }, { port = "mlx5_0 port 1", card = "mlx5_0", link = "InfiniBand", rate = 0, without = 0, idle = 1 } } } } },
      expect = "silent" },
    { name = "one node", facts = { window = { device_time = 1e9 }, nccl = { nodes = 1 }, comm = { count = 100, exposed = 4e8 }, sample = { port = { count = 2, rows = {} } } },
      expect = "not_applicable" },
    { name = "a single port", facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4e8 }, sample = { port = { count = 1, rows = {} } } },
      expect = "not_applicable" },
    { name = "cards were not sampled", facts = { window = { device_time = 1e9 }, comm = { count = 100, exposed = 4e8 } }, expect = "cannot_tell" },
    { name = "no communication", facts = { window = { device_time = 1e9 }, comm = { count = 0, exposed = 0 }, sample = { port = { count = 2, rows = {} } } }, expect = "not_applicable" },
  },
}
