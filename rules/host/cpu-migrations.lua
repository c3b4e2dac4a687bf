-- The launching thread wakes up on another CPU many times a second: caches are cold after each move, and some moves
-- cross to the other socket, away from the GPU.
return {
  id        = "host/cpu-migrations",
  title     = "Bind processes to CPUs near their GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-H23", "K-H3" },

  needs      = { "host.cpu_moves" },
  thresholds = { "min_moves" },

  symptom = "Launching threads move to another CPU {moves:count} times per second.",
  cause   = "The processes are not bound and share CPUs with others: caches are cold after each move, and some moves cross to another socket.",
  fixes   = {
    { action  = "Bind each rank to the CPUs of its GPU's socket",
      snippet = "nvidia-smi topo -m     # column \"CPU Affinity\": the cores near each GPU\nsrun --cpu-bind=map_ldom:0,0,1,1 COMMAND     # 4 ranks; leave every GPU visible to every rank",
      language = "bash", ["for"] = { "nvidia" } },
    { action  = "Without Slurm, start each rank on the NUMA node of its own GPU",
      snippet = "numactl --cpunodebind=$node --membind=$node COMMAND     # $node: from nvidia-smi topo -m, for this rank's GPU",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Bind each process to CPU cores near its GPU, with the options of the scheduler or the launcher" },
  },
  false_positives = "Threads that mostly wait.",
  references = { "nsys/user-guide" },

  applies = function(f)
    return f.host.cpu_moves > 0, "launching threads stay on their CPUs"
  end,

  detect = function(f, t)
    if not at_least(f.host.cpu_moves, t.min_moves) then return nil end
    return { moves = f.host.cpu_moves }
  end,

  tests = {
    { name = "pushed around",
      edges = { ["host.cpu_moves"] = 200 },
      facts = { host = { cpu_moves = 2000 } },
      expect = { moves = 2000 } },
    { name = "near miss: a few moves",
      facts = { host = { cpu_moves = 12 } },
      expect = "silent" },
    { name = "bound",
      facts = { host = { cpu_moves = 0 } },
      expect = "not_applicable" },
    { name = "scheduling was not recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
