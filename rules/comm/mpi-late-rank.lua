-- Sends, receives and waits of MPI take longer than their messages need: the other rank comes late. Its cause is in the
-- report of that rank.

local WHY = {
  chain = "These calls take longer than their messages need on a network. The program receives and sends with blocking calls, one after the other: a rank that waits for a message sends its own late, so that ranks may wait in a chain.",
  late  = "These calls take longer than their messages need on a network. The other rank has more work, or does something else first.",
}

-- Whether it waits most in blocking receives, and sends by blocking calls, too: then no message of a rank travels while it waits
-- for one.
local function in_turn(functions)
  local first = functions[1]
  if not first or first.name ~= "MPI_Recv" then return false end
  for _, row in ipairs(functions) do
    if row.name == "MPI_Send" or row.name == "MPI_Ssend" then return true end
  end
  return false
end

return {
  id        = "comm/mpi-late-rank",
  title     = "Find out why another rank sends or receives late",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "design",
  topic     = "late-messages",
  priority  = 70,
  explains  = { "comm/mpi-exposed", "sync/host-busy-wait" },
  knowledge = { "K-I1" },

  needs_loop     = true,
  loss           = "mpi.late",
  applies        = "mpi.count",
  not_applicable = "the launching threads make no MPI calls",
  evidence       = { count = "per_step", rows = "mpi.functions" },
  thresholds     = { "min_share" },

  symptom = "The GPU is idle for {share:pct} of the time while the host waits in MPI for messages that come late.",
  cause   = "{why:text}",
  fixes   = {
    { action  = "Capture all ranks, and give their reports together: they show which rank is late and why",
      snippet = "advise record -- mpirun -n 4 ./solver\nadvise report.*.sqlite", language = "bash", ["for"] = { "some-ranks" } },
    { reason = "chain", action = "Where what a rank sends does not need what it receives, send and receive at the same time",
      snippet = "MPI_Sendrecv(edges_out, n, MPI_DOUBLE, to, 0, edges_in, n, MPI_DOUBLE, from, 0, comm, MPI_STATUS_IGNORE);",
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { action = "Give the ranks equal work: divide the domain by cost, not by cells" },
    { action  = "Post receives early, and compute what needs no edges before waiting for them",
      snippet = [[MPI_Irecv(edges_in, n, MPI_DOUBLE, peer, 0, comm, &requests[0]);
MPI_Isend(edges_out, n, MPI_DOUBLE, peer, 0, comm, &requests[1]);   // packed already
interior<<<grid, block, 0, stream>>>(field);                     // overlaps with the exchange
MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);]],
      language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { action = "Bind each rank to the cores and the network adapter next to its GPU" },
  },
  false_positives = "A slow network, or messages that share it with other jobs.",
  references = { "mpi/standard" },

  detect = function(f, _, e)
    e.reason = in_turn(f.mpi.functions) and "chain" or "late"
    e.why = WHY[e.reason]
    return e
  end,

  saving = { confidence = 0.5, basis = "messages are there when the host asks for them" },

  tests = {
    { name = "the neighbor computes longer",
      edges = { ["mpi.late.lost"] = 3e7 },
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, functions = { { name = "MPI_Waitall", count = 100, time = 3e8, bytes = 0, idle = 2.2e8 } },
                        late = { per_step = 1, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, count = 1, rows = { { name = "MPI_Waitall", idle = 2.2e8 } } }, saving = { claims = 2e8, confidence = 0.5 } },
    { name = "each rank receives from its left neighbor before it sends to the right one",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 363, functions = { { name = "MPI_Recv", count = 121, time = 3e8, bytes = 0, idle = 2.2e8 },
                                                   { name = "MPI_Barrier", count = 121, time = 1e8, bytes = 0, idle = 1e8 },
                                                   { name = "MPI_Send", count = 121, time = 3e7, bytes = 0, idle = 3e7 } },
                        late = { per_step = 1, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, reason = "chain" } },
    { name = "receives are posted early: nothing is sent late because of them",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 363, functions = { { name = "MPI_Recv", count = 121, time = 3e8, bytes = 0, idle = 2.2e8 },
                                                   { name = "MPI_Isend", count = 121, time = 3e7, bytes = 0, idle = 3e7 } },
                        late = { per_step = 1, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, reason = "late" } },
    { name = "near miss: small differences between ranks",
      facts = { window = { device_time = 1e9 },
                mpi = { count = 600, functions = {}, late = { per_step = 1, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "no MPI", facts = { window = { device_time = 1e9 }, mpi = { count = 0, functions = {}, late = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "MPI calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
