-- Communicators or process groups that are created in the loop: every rank has to meet, exchange addresses and allocate
-- buffers, for tens of milliseconds to seconds.
return {
  id        = "comm/communicator-in-loop",
  title     = "Create communicators before the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 78,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-J7", "K-H14" },

  needs_loop = true,
  loss       = "ranges.communicator",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "Communicators are set up in the loop, {count:count} times {per:text}. The GPU waits {share:pct} of the time for that.",
  cause   = "Process groups are created when they are needed instead of once, and each creation makes every rank meet, exchange addresses and allocate buffers.",
  fixes   = {
    { action  = "Create all groups at the start",
      snippet = "groups = [dist.new_group(ranks) for ranks in layout]     # before the loop",
      language = "python", ["for"] = { "pytorch" } },
    { action = "With NCCL or MPI, create communicators once: ncclCommInitRank, ncclCommSplit and MPI_Comm_split before the loop", ["for"] = { "c++", "mpi", "fortran" } },
    { action = "Create communicators and groups once, before the loop, and keep them" },
  },
  false_positives = "The first collective of a group, which sets it up.",
  references = { "nccl/troubleshooting", "nccl/collectives" },

  saving = { confidence = 0.65, basis = "no communicators are set up in the loop" },

  tests = {
    { name = "a group for each phase",
      edges = { ["ranges.communicator.lost"] = 2e7, ["ranges.communicator.per_step"] = 0.1 },
      facts = { window = { device_time = 1e9 }, ranges = { communicator = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: hidden behind work",
      facts = { window = { device_time = 1e9 }, ranges = { communicator = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, ranges = { communicator = { per_step = 0.01, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no communicators are created in the loop",
      facts = { window = { device_time = 1e9 }, ranges = { communicator = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
