-- The launching thread runs host code in a range that the program named for communication ("halo_exchange", "gloo:…"),
-- or between a kernel that packs messages and one that unpacks them, and the GPU has nothing to do. It waits for a peer
-- there, or packs messages; calls of MPI would tell which.
return {
  id        = "host/exchange",
  title     = "Let the GPU compute while the host exchanges data",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "design",
  priority  = 69,
  explains  = { "sync/device-sync-in-loop", "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-J8" },

  needs_loop = true,
  loss       = "host.exchange",
  evidence   = { count = "per_step" },
  thresholds = { "min_share" },

  symptom = "For {share:pct} of the time, the GPU is idle while the launching thread exchanges data with other processes, {count:count} times {per:text}, as the names of ranges or kernels say.",
  cause   = "The host waits for the exchange before it launches more work.",
  fixes   = {
    { action = "Launch the work that does not need the data first, and wait for the exchange behind it" },
    { action = "Record the calls of MPI: they tell a late rank from slow messages",
      snippet = "nsys profile --trace=cuda,nvtx,mpi -o report -- COMMAND",
      language = "bash", ["for"] = { "nvidia", "mpi" } },
  },
  false_positives = "Ranges that pack or convert data on the host under a name of communication.",
  references = { "nvidia/cuda-aware-mpi" },

  applies = function(f) return f.host.exchange.per_step > 0, "the GPU is never idle in an exchange that a range or a kernel names" end,

  saving = { confidence = 0.45, basis = "the exchange overlaps with the GPU's work" },

  tests = {
    { name = "a tenth of the time in halo exchanges",
      edges = { ["host.exchange.lost"] = 3e7 },
      facts = { window = { device_time = 1e9 }, host = { exchange = { per_step = 1, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, count = 1 },
      saving = { claims = 1e8, confidence = 0.45 } },
    { name = "near miss: the interior covers nearly all",
      facts = { window = { device_time = 1e9 }, host = { exchange = { per_step = 1, lost = 1.5e7, remedy = true } } },
      expect = "silent" },
    { name = "no such ranges",
      facts = { window = { device_time = 1e9 }, host = { exchange = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
