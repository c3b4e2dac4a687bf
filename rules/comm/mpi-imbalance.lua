-- Ranks wait in collectives of MPI (MPI_Allreduce, MPI_Barrier) far longer than the collective takes: some rank comes
-- last, because it has more work, or because it alone reads or writes files.
return {
  id        = "comm/mpi-imbalance",
  title     = "Give all ranks equal work before each MPI collective",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "design",
  priority  = 70,
  explains  = { "comm/mpi-exposed", "sync/host-busy-wait" },
  knowledge = { "K-I1" },

  needs_loop     = true,
  loss           = "mpi.uneven",
  applies        = "mpi.count",
  not_applicable = "the launching threads make no MPI calls",
  evidence       = { "count", rows = "mpi.functions" },
  optional       = { "run.devices", "capture.world_size" },
  thresholds     = { "min_share" },

  symptom = "The host waits for other ranks in MPI collectives, and the GPU is idle for {share:pct} of the time ({count:count} waits).",
  cause   = "The other ranks wait in the collective for one that has more work or that does something alone.",
  fixes   = {
    { reason  = "!all", action = "Capture all ranks, and give their reports together: they show which rank is last and why",
      snippet = "advise record -- mpirun -n 4 ./solver\nadvise report.*.sqlite", language = "bash" },
    { action = "Give the ranks equal work: divide the domain by cost, and divide it again when costs change" },
    { action  = "If rank 0 writes for all, let all ranks write their part at once, or write from another thread",
      snippet = "MPI_File_write_at_all(file, offset, data, n, MPI_DOUBLE, MPI_STATUS_IGNORE);   // instead of MPI_Gather and fwrite on rank 0",
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { action  = "Start reductions early and use their results late: convergence can be tested one step behind",
      snippet = "MPI_Iallreduce(&local, &global, 1, MPI_DOUBLE, MPI_MAX, comm, &request);\n...                                        // the next step\nMPI_Wait(&request, MPI_STATUS_IGNORE);",
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { action = "Remove barriers: MPI messages already order what they need to order" },
  },
  false_positives = "A rank that is last in each step on purpose, such as the end of a pipeline.",
  references = { "mpi/standard" },

  -- Where all ranks are here, nobody needs to capture them.
  detect = function(f, t, e)
    local shown = f.run.devices or 1
    if shown > 1 and shown >= (f.capture.world_size or shown) then e.reason = "all" end
    return e
  end,

  saving = { confidence = 0.5, basis = "all ranks come to the collectives at the same time" },

  tests = {
    { name = "rank 0 writes while the others wait at a barrier",
      edges = { ["mpi.uneven.lost"] = 3e7 },
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, functions = { { name = "MPI_Barrier", count = 10, time = 3e8, bytes = 0, idle = 2e8 } },
                        uneven = { count = 10, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, count = 10, rows = { { name = "MPI_Barrier", idle = 2e8 } } }, saving = { claims = 2e8, confidence = 0.5 } },
    { name = "all ranks are in the report",
      facts = { window = { device_time = 1e9 }, run = { devices = 4 },
                mpi = { count = 600, functions = {}, uneven = { count = 10, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, reason = "all" } },
    { name = "near miss: ranks come a little apart",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, functions = {}, uneven = { count = 100, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "no MPI", facts = { window = { device_time = 1e9 }, mpi = { count = 0, functions = {}, uneven = { count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "MPI calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
