-- The launching thread reads or writes files with MPI (MPI_File_write_all) in the loop, and the GPU waits.
return {
  id        = "comm/mpi-file-io",
  title     = "Write files with MPI while the GPU computes",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 80,
  explains  = { "host/cpu-bound", "sync/host-busy-wait", "step/checkpoint-stall", "step/periodic-stall", "host/file-writes",
                "input/slow-batches" },
  knowledge = { "K-G2" },

  needs_loop     = true,
  loss           = "mpi.file",
  applies        = "mpi.count",
  not_applicable = "the launching threads make no MPI calls",
  evidence       = { "count", rows = "mpi.functions" },
  thresholds     = { "min_share" },

  symptom = "The GPU is idle for {share:pct} of the time while the host reads or writes files with MPI ({count:count} calls).",
  cause   = "The launching thread waits for the file system and launches nothing meanwhile.",
  fixes   = {
    { action  = "Write from a copy of the data, without waiting",
      snippet = [[// copy: pinned; stream: that of the kernels that change field
cudaMemcpyAsync(copy, field, bytes, cudaMemcpyDeviceToHost, stream);
cudaEventRecord(copied, stream);
...                                // launch the next step
cudaEventSynchronize(copied);
MPI_File_iwrite_at_all(file, offset, copy, n, MPI_DOUBLE, &request);
...                                // more steps, then:
MPI_Wait(&request, MPI_STATUS_IGNORE);]],
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { action = "Write less often, or write fewer and smaller fields" },
    { action = "Set the stripes of the file system for large collective writes (lfs setstripe), and let a few ranks per node write" },
  },
  false_positives = "Output that happens once at the end of a run.",
  references = { "mpi/standard" },

  saving = { confidence = 0.6, basis = "file calls of MPI overlap with compute" },

  tests = {
    { name = "results every ten steps",
      edges = { ["mpi.file.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, functions = { { name = "MPI_File_write_at_all", count = 10, time = 1e8, bytes = 4e9, idle = 1e8 } },
                        file = { count = 10, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, count = 10, rows = { { name = "MPI_File_write_at_all", idle = 1e8 } } }, saving = { claims = 1e8, confidence = 0.6 } },
    { name = "near miss: short writes",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, functions = {}, file = { count = 10, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "no MPI", facts = { window = { device_time = 1e9 }, mpi = { count = 0, functions = {}, file = { count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "MPI calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
