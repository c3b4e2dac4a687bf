-- A GPU whose nearest network card hangs on another host bridge or socket: its traffic crosses the host.
return {
  id        = "topology/nic-distance",
  title     = "Pair each GPU with a network card near it",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  knowledge = { "K-J6", "K-J2" },
  effort    = "flag",
  observed  = "recorded",

  needs      = { "topology.gpus", "topology.nics", "topology.nic.far", "topology.nic.rows" },
  optional   = { "nccl.nodes" },
  thresholds = { "min_far" },

  symptom = "For {far:count} of {gpus:count} GPUs, no network card is closer than {path:text} ({gpu:text}: {nic:text}).",
  cause   = "Traffic of such a GPU to other nodes goes through host bridges or the link between sockets, which is slower and shared. GPUDirect RDMA may not be used at all on such a path.",
  fixes   = {
    { action = "Bind each rank to a GPU, and to the cores and the card of its own socket",
      snippet = "nvidia-smi topo -m    # which cores and cards are near which GPU; then, for instance:\nsrun --ntasks-per-node=4 --cpu-bind=map_ldom:0,0,1,1 ...    # leave every GPU visible to every rank: CUDA IPC needs it", language = "bash", ["for"] = { "nvidia" } },
    { action = "Let NCCL choose among the cards; if you must tell it, name the near ones",
      snippet = "export NCCL_IB_HCA={near:code}", language = "bash" },
    { action = "If a card is missing from its slot or its port is down, tell the administrators" },
  },
  false_positives = "A job on one node, or a node with a single card for storage.",
  references = { "nccl/environment", "nvidia/gpudirect-rdma" },

  applies = function(f)
    if f.topology.gpus == 0 or f.topology.nics == 0 then return false, "no topology matrix with GPUs and network cards was given" end
    return f.nccl.nodes == nil or f.nccl.nodes > 1, "the job runs on one node"
  end,

  detect = function(f, t)
    if not at_least(f.topology.nic.far, t.min_far) then return nil end
    local far = filter(f.topology.nic.rows, function(row) return row.path == "NODE" or row.path == "SYS" or row.path == "SOC" end)
    local near = {}
    for _, row in ipairs(f.topology.nic.rows) do
      local known = row.path == far[1].path
      for _, one in ipairs(near) do known = known or one == row.nic end
      for _, one in ipairs(far) do known = known or (one.nic == row.nic and one.gpu == row.gpu) end
      if not known then table.insert(near, row.nic) end
    end
    return { near = #near > 0 and table.concat(near, ",") or "CARDS", far = f.topology.nic.far, gpus = f.topology.gpus, path = far[1].path, gpu = far[1].gpu, nic = far[1].nic, rows = far }
  end,

  tests = {
    { name = "two of four GPUs on the other socket",
      edges = { ["topology.nic.far"] = 1 },
      facts = { topology = { gpus = 4, nics = 1, nic = { far = 2, rows = {
        { gpu = "GPU0", nic = "mlx5_0", path = "PIX" }, { gpu = "GPU2", nic = "mlx5_0", path = "SYS" },
        { gpu = "GPU3", nic = "mlx5_0", path = "SYS" } } } } },
      expect = { far = 2, gpus = 4, path = "SYS", gpu = "GPU2", nic = "mlx5_0", near = "mlx5_0", rows = 2 } },
    { name = "near miss: all behind the same host bridge",
      facts = { topology = { gpus = 4, nics = 2, nic = { far = 0, rows = { { gpu = "GPU0", nic = "mlx5_0", path = "PHB" } } } } },
      expect = "silent" },
    { name = "one node only",
      facts = { nccl = { nodes = 1 }, topology = { gpus = 4, nics = 1, nic = { far = 2, rows = {} } } }, expect = "not_applicable" },
    { name = "no matrix", facts = { topology = { gpus = 0, nics = 0 } }, expect = "not_applicable" },
  },
}
