-- The host copies data from the GPU, gives it to MPI, and uploads what MPI received: an exchange of edges or a
-- collective with buffers in host memory. An MPI library that knows CUDA takes GPU memory: neither copy is needed, and
-- between nodes the network adapter reads and writes GPU memory itself.
return {
  id        = "comm/staged-through-host",
  title     = "Give MPI the GPU buffers instead of copying them through the host",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 79,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates", "transfer/pageable-copy", "transfer/blocking-copy",
                "transfer/round-trip", "transfer/many-small-copies", "sync/host-busy-wait" },
  knowledge = { "K-J2" },

  loss           = "mpi.staged",
  applies        = "mpi.count",
  not_applicable = "the launching threads make no MPI calls",
  evidence       = { "count", "per_step", "bytes" },
  thresholds     = { "min_share", "min_count" },

  symptom = "{bytes:bytes} go through host memory to MPI and back, in {count:count} copies. Meanwhile, the GPU computes nothing for {share:pct} of the time.",
  cause   = "The program copies each message to the host, waits, sends it with MPI, and uploads what it receives. A GPU-aware MPI library needs none of these copies.",
  fixes   = {
    { action  = "Pass device pointers to MPI",
      snippet = [[pack<<<grid, block, 0, stream>>>(send_device, field);
cudaStreamSynchronize(stream);           // the data is ready, without a copy
MPI_Isend(send_device, n, MPI_DOUBLE, peer, 0, comm, &requests[0]);
MPI_Irecv(recv_device, n, MPI_DOUBLE, peer, 0, comm, &requests[1]);]],
      language = "cpp", ["for"] = { "mpi", "c++" } },
    { action  = "With OpenACC, hand the device address to MPI with host_data; with OpenMP, use use_device_addr",
      snippet = [[#pragma acc host_data use_device(halo)          // Fortran: !$acc host_data use_device(halo)
MPI_Isend(halo, n, MPI_DOUBLE, peer, 0, comm, &request);
#pragma omp target data use_device_addr(halo[0:n])   // Fortran: !$omp target data use_device_addr(halo)
MPI_Isend(halo, n, MPI_DOUBLE, peer, 0, comm, &request);]],
      language = "cpp", ["for"] = { "openacc", "openmp", "fortran" } },
    { action  = "Turn on GPU support in the MPI library: Cray MPICH by a variable, Open MPI through UCX",
      snippet = [[export MPICH_GPU_SUPPORT_ENABLED=1                                   # Cray MPICH
ompi_info --parsable --all | grep mpi_built_with_cuda_support:value   # Open MPI: must say true
export OMPI_MCA_pml=ucx UCX_TLS=rc,cuda_copy,cuda_ipc,gdr_copy,sm      # Open MPI with UCX]],
      language = "bash" },
    { action = "If MPI cannot take GPU memory, use pinned buffers, and copy one part while another part is sent" },
  },
  false_positives = "Data that the host itself needs between the copy and the message, for example to sort it.",
  references = { "nvidia/cuda-aware-mpi", "openmpi/cuda" },

  saving = { confidence = 0.7, basis = "MPI sends from and receives into GPU memory, without the copies" },

  tests = {
    { name = "edges of 1 MB go to both neighbors through the host",
      edges = { ["mpi.staged.count"] = 4, ["mpi.staged.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, staged = { count = 400, per_step = 4, bytes = 4e8, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, count = 400, per_step = 4, bytes = 4e8 }, saving = { claims = 1e8, confidence = 0.7 } },
    { name = "near miss: the copies overlap with the interior",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, staged = { count = 400, per_step = 4, bytes = 4e8, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: once, when the program distributes its data",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 10, staged = { count = 2, per_step = 0, bytes = 4e9, lost = 1e8, remedy = true } } },
      expect = "silent" },
    { name = "no MPI", facts = { window = { device_time = 1e9 }, mpi = { count = 0, staged = { count = 0 } } },
      expect = "not_applicable" },
    { name = "MPI calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
