-- The host is inside MPI while messages travel, and the GPU has nothing to do: the interior, which needs no edges, or
-- another part of a collective, could be computed meanwhile.

-- What the fixes go by, from the function that the GPU idles in most. Sums of large arrays are work of the host, which
-- adds and copies them at a fraction of the bandwidth of a GPU's memory.
local function kind_of(name, bytes, large)
  if contains(name, "Barrier") then return "barrier" end
  if contains(name, "Wait") then return "wait" end
  if contains(name, "educe") and at_least(bytes, large) then return "sum" end
  for _, word in ipairs({ "All", "all", "Reduce", "Bcast", "Gather", "Scatter", "Scan" }) do
    if contains(name, word) then return "collective" end
  end
  return "message"
end

local WHY = {
  barrier    = "The host waits in a barrier, which moves no data, and launches nothing meanwhile.",
  collective = "The host waits for the collective before it launches more work.",
  sum        = "The host sums large arrays and waits for that before it launches more work. GPUs sum them at the bandwidth of their memory and links.",
  message    = "The host is inside MPI calls while messages are in transit, and launches nothing meanwhile.",
  wait       = "The host waits in MPI until messages that it started earlier have arrived, and launches nothing meanwhile. Many MPI libraries move large messages only inside their calls, so that little of them is in transit before this wait.",
}

return {
  id        = "comm/mpi-exposed",
  title     = "Overlap MPI messages with GPU work",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "design",
  topic     = "messages",
  priority  = 66,
  explains  = { "sync/host-busy-wait" },
  knowledge = { "K-J8" },

  needs      = { "mpi.count", "mpi.messages", "mpi.functions", "mpi.transfer.per_step", "mpi.transfer.lost", "mpi.transfer.remedy",
                 "window.device_time" },
  needs_loop = true,
  thresholds = { "min_share", "large_sum" },

  symptom = "The GPU is idle for {share:pct} of the time while messages are in transit between ranks, mostly in {call:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "wait", action = "Where messages are started after the work that does not need them, start them before it (in a grid: the interior), and wait for MPI last",
      snippet = [[MPI_Irecv(edges_in, n, MPI_DOUBLE, peer, 0, comm, &requests[0]);
MPI_Isend(edges_out, n, MPI_DOUBLE, peer, 0, comm, &requests[1]);
interior<<<grid, block, 0, stream>>>(field);
MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
boundary<<<edge, block, 0, stream>>>(field, edges_in);]],
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { reason = "wait", action = "Where they are started before that work already, let them travel meanwhile: wait for MPI before you wait for the GPU",
      snippet = [[interior<<<grid, block, 0, stream>>>(field);
MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);   // the GPU computes meanwhile
cudaStreamSynchronize(stream);                   // not before MPI_Waitall]],
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { reason = "wait", action = "If the library offers it, let a thread of MPI move messages", snippet = "export MPICH_ASYNC_PROGRESS=1   # MPICH and Intel MPI (I_MPI_ASYNC_PROGRESS=1)", language = "bash" },
    { reason = "message", action = "Start messages without waiting, launch the work that does not need them (in a grid: the interior), and wait for MPI last",
      snippet = [[MPI_Irecv(edges_in, n, MPI_DOUBLE, peer, 0, comm, &requests[0]);
MPI_Isend(edges_out, n, MPI_DOUBLE, peer, 0, comm, &requests[1]);
interior<<<grid, block, 0, stream>>>(field);
MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
boundary<<<edge, block, 0, stream>>>(field, edges_in);]],
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { reason = "message", action = "With OpenACC, launch the work that needs no messages with async, and wait after MPI_Waitall; with OpenMP, use nowait and taskwait", ["for"] = { "openacc", "openmp", "fortran" } },
    { reason = "wait", action = "With OpenACC, launch the work that needs no messages with async, and wait after MPI_Waitall; with OpenMP, use nowait and taskwait", ["for"] = { "openacc", "openmp", "fortran" } },
    { reason = "message", action = "Where ranks exchange the edges of a grid, exchange wider edges every few steps instead of narrow ones in each step" },
    { reason = "wait", action = "Where ranks exchange the edges of a grid, exchange wider edges every few steps instead of narrow ones in each step" },
    { reason = "sum", action = "Sum on the GPUs: pass device pointers to NCCL, or to an MPI that sums in GPU memory",
      snippet = "ncclAllReduce(in, out, count, ncclFloat, ncclSum, comm, stream);   // instead of the download, MPI_Allreduce and the upload",
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { reason = "sum", action = "Divide the array into parts, and sum one part while another one is computed" },
    { reason = "collective", action = "Divide the data into parts, and compute one part while the collective of another one runs",
      snippet = [[for (int slab = 0; slab < 2; ++slab) {
  pack<<<grid, block, 0, stream>>>(send + slab * total, field);   // of this slab only
  cudaStreamSynchronize(stream);
  MPI_Ialltoall(send + slab * total, n, MPI_DOUBLE, recv + slab * total, n, MPI_DOUBLE, comm, &requests[slab]);
}
MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);]],
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { reason = "collective", action = "Start reductions of single numbers with MPI_Iallreduce, and use the result one iteration later" },
    { reason = "barrier", action = "Remove the barriers: receives, waits and collectives already wait for what they need" },
    { reason = "!barrier", action = "Use fewer ranks for the same problem: messages shrink more slowly than the work" },
  },
  false_positives = "Programs in which every kernel needs the messages first.",
  references = { "nvidia/cuda-aware-mpi", "mpi/standard" },

  applies = function(f) return f.mpi.count > 0, "the launching threads make no MPI calls" end,

  detect = function(f, t)
    local lost = share(f.mpi.transfer.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    local worst = f.mpi.functions[1]
    local each = worst and worst.count > 0 and (worst.bytes or 0) / worst.count or 0
    local kind = kind_of(worst and worst.name or "", each, t.large_sum)
    return { share = lost, count = f.mpi.transfer.per_step, messages = f.mpi.messages, rows = f.mpi.functions,
             reason = kind, call = worst and worst.name or "MPI", why = WHY[kind] }
  end,

  saving = { claims = "mpi.transfer.lost", remedy = "mpi.transfer.remedy", confidence = 0.5, basis = "messages are in transit while the GPU computes" },

  tests = {
    { name = "a tenth of the time in exchanges",
      edges = { ["mpi.transfer.lost"] = 3e7 },
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, messages = 2, functions = { { name = "MPI_Waitall", count = 100, time = 1.2e8, bytes = 0, idle = 1e8 } },
                        transfer = { per_step = 1, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, count = 1, messages = 2, reason = "wait", call = "MPI_Waitall" },
      saving = { claims = 1e8, confidence = 0.5 } },
    { name = "blocking exchanges",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, messages = 2, functions = { { name = "MPI_Sendrecv", count = 100, time = 1.2e8, bytes = 0, idle = 1e8 } },
                        transfer = { per_step = 1, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, reason = "message", call = "MPI_Sendrecv" } },
    { name = "a distributed FFT transposes by MPI_Alltoall, and sends no messages of its own",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 200, messages = 0, functions = { { name = "MPI_Alltoall", count = 80, time = 3.2e8, bytes = 0, idle = 3e8 } },
                        transfer = { per_step = 2, lost = 3e8, remedy = true } } },
      expect = { share = 0.3, reason = "collective" } },
    { name = "gradients of 40 MB that MPI sums on the hosts",
      edges = { ["mpi.functions[1].bytes"] = 61e6 },
      facts = { window = { device_time = 1e9 },
                mpi = { count = 61, messages = 0, functions = { { name = "MPI_Allreduce", count = 61, time = 9.2e8, bytes = 4.88e9, idle = 9.2e8 } },
                        transfer = { per_step = 1, lost = 4.9e8, remedy = true } } },
      expect = { share = 0.49, reason = "sum" } },
    { name = "sums of single numbers are messages of any size",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, messages = 0, functions = { { name = "MPI_Allreduce", count = 600, time = 1.6e8, bytes = 9600, idle = 1.4e8 } },
                        transfer = { per_step = 6, lost = 1.4e8, remedy = true } } },
      expect = { share = 0.14, reason = "collective" } },
    { name = "a barrier after each kernel",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 900, messages = 2, functions = { { name = "MPI_Barrier", count = 600, time = 1.6e8, bytes = 0, idle = 1.4e8 } },
                        transfer = { per_step = 6, lost = 1.4e8, remedy = true } } },
      expect = { share = 0.14, reason = "barrier" } },
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
