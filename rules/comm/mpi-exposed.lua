-- The host is inside MPI while messages travel, and the GPU has nothing to do: the interior, which needs no edges, could
-- be computed meanwhile.
return {
  id        = "comm/mpi-exposed",
  title     = "Compute the interior while MPI messages travel",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "design",
  priority  = 66,
  explains  = { "sync/host-busy-wait" },
  knowledge = { "K-J8" },

  needs_loop     = true,
  loss           = "mpi.transfer",
  applies        = "mpi.count",
  not_applicable = "the launching threads make no MPI calls",
  evidence       = { count = "per_step", messages = "mpi.messages", rows = "mpi.functions" },
  thresholds     = { "min_share" },

  symptom = "The GPU is idle for {share:pct} of the time while messages travel between ranks. Each rank sends {messages:count} messages {per:text}.",
  cause   = "The host waits for the edges before it launches the interior.",
  fixes   = {
    { action  = "Launch the interior before you wait for MPI",
      snippet = [[MPI_Irecv(edges_in, n, MPI_DOUBLE, peer, 0, comm, &requests[0]);
MPI_Isend(edges_out, n, MPI_DOUBLE, peer, 0, comm, &requests[1]);
interior<<<grid, block, 0, stream>>>(field);
MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
boundary<<<edge, block, 0, stream>>>(field, edges_in);]],
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { action = "With OpenACC, launch the interior with async and wait after MPI_Waitall; with OpenMP, use nowait and taskwait", ["for"] = { "openacc", "openmp", "fortran" } },
    { action = "Exchange wider edges every few steps instead of narrow ones in each step" },
    { action = "Use fewer ranks for the same problem: edges shrink more slowly than the interior" },
  },
  false_positives = "Solvers whose every kernel needs the edges first.",
  references = { "nvidia/cuda-aware-mpi", "mpi/standard" },

  saving = { confidence = 0.5, basis = "messages travel while the GPU computes" },

  tests = {
    { name = "a tenth of the time in exchanges",
      edges = { ["mpi.transfer.lost"] = 3e7 },
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, messages = 2, functions = { { name = "MPI_Waitall", count = 100, time = 1.2e8, bytes = 0, idle = 1e8 } },
                        transfer = { per_step = 1, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, count = 1, messages = 2, rows = { { name = "MPI_Waitall", idle = 1e8 } } },
      saving = { claims = 1e8, confidence = 0.5 } },
    { name = "near miss: the interior covers nearly all",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, messages = 2, functions = {}, transfer = { per_step = 1, lost = 1.5e7, remedy = true } } },
      expect = "silent" },
    { name = "no MPI",
      facts = { window = { device_time = 1e9 }, mpi = { count = 0, messages = 0, functions = {}, transfer = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "MPI calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
