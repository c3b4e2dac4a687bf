-- Communication kernels run with no compute beside them. Why (late ranks, order, size, path) other rules say.
return {
  id        = "comm/exposed",
  title     = "Overlap communication with compute",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  knowledge = { "K-C2", "K-N10", "K-N15", "K-L6", "K-L7", "K-L8", "K-B2", "K-G4", "K-J8" },
  effort    = "design",

  needs      = { "comm.count", "comm.exposed", "comm.time", "comm.overlap", "comm.kinds", "comm.beside.remedy",
                 "window.device_time" },
  thresholds = { "min_share" },

  symptom = "For {share:pct} of the time, only communication runs; {overlap:pct} of the communication time overlaps with compute.",
  cause   = "Compute kernels wait for the result, or are not launched until communication has ended. Part of the time in these kernels may be waiting for a late rank.",
  fixes   = {
    { action = "Start each collective as soon as its data is ready, and wait for it only where the result is used",
      snippet = "work = dist.all_reduce(grad, async_op=True)\n...            # compute that does not need grad\nwork.wait()", language = "python", ["for"] = { "pytorch" } },
    { action = "Communicate less often: accumulate gradients over several micro-steps, or use a larger batch per GPU",
      snippet = "with model.no_sync():\n    loss(model(x0)).backward()\nloss(model(x1)).backward()", language = "python", ["for"] = { "pytorch" } },
    { action = "Send fewer bytes: bf16 gradients",
      snippet = "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\nmodel.register_comm_hook(None, default_hooks.bf16_compress_hook)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "With NCCL, launch collectives on a separate stream, and let only the kernels that need the result wait for an event",
      snippet = "ncclAllReduce(in, out, count, ncclFloat, ncclSum, comm, comm_stream);\ncudaEventRecord(reduced, comm_stream);\nindependent<<<grid, block, 0, compute_stream>>>(data);\ncudaStreamWaitEvent(compute_stream, reduced, 0);", language = "cpp", ["for"] = { "c++" } },
    { action = "With MPI, start non-blocking exchanges, compute what does not need them, then wait",
      snippet = "MPI_Irecv(halo_in, n, MPI_DOUBLE, peer, 0, comm, &requests[0]);\nMPI_Isend(halo_out, n, MPI_DOUBLE, peer, 0, comm, &requests[1]);\ninterior<<<grid, block, 0, stream>>>(field);\nMPI_Waitall(2, requests, MPI_STATUSES_IGNORE);\nboundary<<<edge, block, 0, stream>>>(field, halo_in);", language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
  },
  false_positives = "Inference with tensor parallelism, where each layer needs the result of the collective before it.",
  references = { "pytorch/ddp", "pytorch/fsdp", "nccl/collectives" },

  applies = function(f) return f.comm.count > 0, "no communication kernels ran" end,

  detect = function(f, t)
    local exposed = share(f.comm.exposed.time, f.window.device_time)
    if not at_least(exposed, t.min_share) then return nil end
    return { share = exposed, overlap = f.comm.overlap, time = f.comm.time, count = f.comm.count,
             rows = top(f.comm.kinds, "exposed", 5) }
  end,

  -- What no cause has claimed: hidden beside compute it costs nothing, as far as there is compute.
  saving = { claims = "comm.exposed", remedy = "comm.beside.remedy", confidence = 0.4,
             basis = "communication overlaps with the compute that there is" },

  tests = {
    { name = "a quarter of the time in exposed all-reduces",
      facts = { window = { device_time = 4e9 },
                comm = { beside = { remedy = true }, count = 200, exposed = 1e9, time = 3e8, overlap = 0.17,
                         kinds = { { kind = "allreduce", count = 200, time = 1.2e9, exposed = 1e9 } } } },
      expect = { share = 0.25, overlap = 0.17, count = 200, rows = { { kind = "allreduce", exposed = 1e9 } } } },
    { name = "near miss: the last bucket sticks out",
      facts = { window = { device_time = 4e9 },
                comm = { beside = { remedy = true }, count = 200, exposed = 1.2e8, time = 3e8, overlap = 0.9,
                         kinds = { { kind = "allreduce", count = 200, time = 1.2e9, exposed = 1.2e8 } } } },
      expect = "silent" },
    { name = "one GPU",
      facts = { window = { device_time = 1e9 }, comm = { beside = { remedy = true }, count = 0, exposed = 0, time = 0, overlap = 0, kinds = {} } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
