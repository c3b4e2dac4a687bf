-- Many messages of a few kilobytes between the same two ranks: each pays the latency of the network and the cost of two
-- calls, whatever it carries.
return {
  id        = "comm/mpi-small-messages",
  title     = "Pack small MPI messages to the same rank into one",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 78,
  explains  = { "comm/mpi-exposed", "host/cpu-bound" },
  knowledge = { "K-K2" },

  loss           = "mpi.small",
  applies        = "mpi.count",
  not_applicable = "the launching threads make no MPI calls",
  evidence       = { "per_step", messages = "mpi.messages", bytes = "mpi.message_bytes" },
  thresholds     = { "min_per_step", "min_share" },

  symptom = "A rank sends {messages:count} messages {per:text}, of which {per_step:count} are small (median {bytes:bytes}). The GPU is idle in these calls for {share:pct} of the time.",
  cause   = "A message of a few kilobytes takes hardly longer than its latency; each further message to the same rank pays that latency again.",
  fixes   = {
    { action  = "Pack all edges for a neighbor into one buffer",
      snippet = [[pack_all<<<grid, block, 0, stream>>>(buffer, fields, n_fields);
cudaStreamSynchronize(stream);
MPI_Isend(buffer, total, MPI_DOUBLE, neighbor, 0, comm, &request);]],
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { action = "Exchange several fields or several layers of edges at once, and exchange less often" },
    { action  = "Let one neighborhood collective take the place of many messages",
      snippet = "MPI_Neighbor_alltoallv(send, send_counts, send_offsets, MPI_DOUBLE, recv, recv_counts, recv_offsets, MPI_DOUBLE, graph);",
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { action  = "If the same messages go out in each step, set them up once as persistent requests",
      snippet = "MPI_Send_init(buffer, n, MPI_DOUBLE, neighbor, 0, comm, &request);   // before the loop\nMPI_Start(&request);                                                  // in each step",
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
  },
  false_positives = "Messages whose contents become ready at different times, and whose receivers work on each at once.",
  references = { "mpi/standard" },

  saving = { confidence = 0.65, basis = "each rank sends one message per step to each other rank" },

  tests = {
    { name = "128 messages of 4 KB per step",
      edges = { ["mpi.small.lost"] = 2e7, ["mpi.small.per_step"] = 16 },
      facts = { window = { device_time = 1e9 },
                mpi = { count = 8000, messages = 128, message_bytes = 4096, small = { per_step = 128, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, per_step = 128, messages = 128, bytes = 4096 }, saving = { claims = 1e8, confidence = 0.65 } },
    { name = "near miss: a few small messages beside large ones",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 800, messages = 8, message_bytes = 1e6, small = { per_step = 4, lost = 5e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: many, while the interior is computed",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 8000, messages = 128, message_bytes = 4096, small = { per_step = 128, lost = 2e6, remedy = true } } },
      expect = "silent" },
    { name = "no MPI",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 0, messages = 0, message_bytes = 0, small = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "MPI calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
