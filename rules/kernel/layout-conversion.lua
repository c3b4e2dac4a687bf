-- Kernels that only change the order of a tensor in memory: NCHW to NHWC and back around convolutions, transposes around
-- matrix products, contiguous() behind a transpose.

-- Collectives and calls of MPI in which each rank sends others different parts of its arrays.
local EXCHANGES = {
  sendrecv = true, alltoall = true, MPI_Alltoall = true, MPI_Alltoallv = true, MPI_Alltoallw = true, MPI_Ialltoall = true, MPI_Ialltoallv = true,
  MPI_Isend = true, MPI_Send = true, MPI_Sendrecv = true, MPI_Neighbor_alltoall = true, MPI_Neighbor_alltoallv = true,
}

return {
  id        = "kernel/layout-conversion",
  title     = "Keep arrays in the layout that later kernels need",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 73,
  explains  = { "kernel/hot", "launch/tiny-kernels", "transfer/copy-operator", "step/low-mfu" },
  knowledge = { "K-H1" },
  effort    = "code",

  loss           = "kernel.layout",
  not_applicable = "no transposes or layout conversions ran",
  evidence       = { "count", compute_share = "share" },
  needs          = { "kernel.layout.remedy" },
  optional       = { "family.strided_tensor_copy.lost", "comm.kinds", "mpi.functions" },
  thresholds     = { "min_share", "min_count", "max_longest", "min_packing" },

  symptom = "Changing the layout of arrays takes {share:pct} of the time: {count:count} {what:text} {per:text}{packing:text}.",
  cause   = "The kernels that do the work need a different memory layout from the one the arrays have. Data is rearranged before and after each of them.",
  fixes   = {
    { reason = "copies", action = "Find the calls of contiguous(), and of reshape() or copy_() on transposed tensors, and let the next operators read strided tensors",
      snippet = "x = x.transpose(1, 2)            # products and attention read it as it is: no .contiguous() after it",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "!copies", action = "Keep model and input in channels-last layout, which tensor-core convolutions use directly",
      snippet = "model = model.to(memory_format=torch.channels_last)\nx = x.to(\"cuda\", memory_format=torch.channels_last)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "In your own code, remove transposes that are undone later, and call contiguous() only where a kernel needs it", ["for"] = { "pytorch" } },
    { action = "Remove transposes that are undone later, and let the kernels before or after one write or read the other order" },
    { action = "Plan transforms of strided data (cufftPlanMany) instead of transposing before them", ["for"] = { "c++", "fortran" } },
    { action = "In CUDA C++, store tensors as NHWC from the start, and let cuBLAS read operands as transposed instead of copying them", ["for"] = { "c++" } },
  },
  false_positives = "Layers without a channels-last implementation, which convert back, and transposes that pack the messages of a distributed FFT.",
  references = { "pytorch/channels-last", "nvidia/tensor-core-alignment" },

  detect = function(f, t, e)
    -- Who exchanges tokens or messages packs them before and behind, and has to.
    local exchanges = filter(f.comm.kinds or {}, function(row) return EXCHANGES[row.kind] end)
    local messages = filter(f.mpi.functions or {}, function(row) return EXCHANGES[row.name] end)
    if #exchanges + #messages > 0 and not at_least(e.share, t.min_packing) then return nil end
    -- One before each exchange, and one after it.
    local packings = 2 * (sum(messages, "count") + sum(exchanges, "count"))
    e.needless = 1 - packings / math.max(f.kernel.layout.lost.count or 0, e.count)
    if not at_least(e.needless * e.share, t.min_share) then return nil end
    e.packing = packings > 0 and ". Some of them pack what ranks exchange, which is needed" or ""
    local strided = f.family.strided_tensor_copy.lost
    local copies = strided ~= nil and 2 * strided.time >= f.kernel.layout.lost.time
    e.reason = copies and "copies" or nil
    e.what = copies and "copies into another layout" or "transposes and conversions"
    return e
  end,

  saving = function(f, t, e)
    local basis = "the conversions are gone"
    if e.needless == 1 then return { claims = f.kernel.layout.lost, remedy = f.kernel.layout.remedy, confidence = 0.7, basis = basis } end
    return { claims = f.kernel.layout.lost, part = e.needless, confidence = 0.5, basis = basis .. ", but for two around each exchange" }
  end,

  tests = {
    { name = "32 conversions a step around convolutions",
      edges = { ["kernel.layout.count"] = 4, ["kernel.layout.lost"] = 2e7, ["kernel.layout.longest"] = 0.5 },
      facts = { window = { device_time = 1e9 },
                kernel = { layout = { share = 0.104, count = 32, longest = 0.002, lost = 1.03e8, remedy = true } } },
      expect = { share = 0.103, count = 32, what = "transposes and conversions" },
      saving = { claims = 1.03e8 } },
    { name = "contiguous() behind each transpose",
      facts = { window = { device_time = 1e9 }, family = { strided_tensor_copy = { lost = 9e7 } },
                kernel = { layout = { share = 0.104, count = 32, longest = 0.002, lost = 1.03e8, remedy = true } } },
      expect = { reason = "copies", what = "copies into another layout" } },
    { name = "far more conversions than an exchange of tokens needs",
      edges = { ["kernel.layout.lost"] = 4e7 },
      facts = { window = { device_time = 1e9 }, comm = { kinds = { { kind = "sendrecv", count = 8, time = 1e8, exposed = 1e7 } } },
                kernel = { layout = { share = 0.104, count = 32, longest = 0.002, lost = 1.03e8, remedy = true } } },
      expect = { share = 0.103, packing = ". Some of them pack what ranks exchange, which is needed" },
      saving = { claims = 1.03e8, part = 0.5, confidence = 0.5 } },
    { name = "near miss: blocks of a sequence are packed before and behind each exchange",
      facts = { window = { device_time = 1e9 }, comm = { kinds = { { kind = "sendrecv", count = 66, time = 1e8, exposed = 1e7 } } },
                kernel = { layout = { share = 0.06, count = 117, longest = 0.01, lost = { time = 5.3e7, count = 117 }, remedy = true } } },
      expect = "silent" },
    { name = "near miss: tokens are packed for an exchange between ranks",
      facts = { window = { device_time = 1e9 }, comm = { kinds = { { kind = "sendrecv", count = 48, time = 1e8, exposed = 1e7 } } },
                kernel = { layout = { share = 0.037, count = 400, longest = 0.002, lost = 3.7e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: tokens are packed for an all-to-all",
      facts = { window = { device_time = 1e9 }, comm = { kinds = { { kind = "alltoall", count = 48, time = 1e8, exposed = 1e7 } } },
                kernel = { layout = { share = 0.034, count = 32, longest = 0.003, lost = 3.4e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: pencils of a distributed transform are packed for messages of MPI",
      facts = { window = { device_time = 1e9 }, mpi = { functions = { { name = "MPI_Alltoall", count = 48, time = 1e8 } } },
                kernel = { layout = { share = 0.09, count = 32, longest = 0.002, lost = { time = 9e7, count = 96 }, remedy = true } } },
      expect = "silent" },
    { name = "far more transposes than messages of MPI",
      facts = { window = { device_time = 1e9 }, mpi = { functions = { { name = "MPI_Alltoall", count = 4, time = 1e8 } } },
                kernel = { layout = { share = 0.09, count = 32, longest = 0.002, lost = { time = 9e7, count = 96 }, remedy = true } } },
      expect = { share = 0.09 } },
    { name = "sums of gradients need no packing",
      facts = { window = { device_time = 1e9 }, comm = { kinds = { { kind = "allreduce", count = 48, time = 1e8, exposed = 1e7 } } },
                kernel = { layout = { share = 0.034, count = 32, longest = 0.003, lost = 3.4e7, remedy = true } } },
      expect = { share = 0.034 } },
    { name = "near miss: the few transposes that every step has",
      facts = { window = { device_time = 1e9 },
                kernel = { layout = { share = 0.013, count = 48, longest = 0.002, lost = 1.3e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one large transpose that the program is about",
      facts = { window = { device_time = 1e9 },
                kernel = { layout = { share = 0.3, count = 1, longest = 1, lost = 3e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one pass converts its input, and moves little else",
      facts = { window = { device_time = 6.5e6 },
                kernel = { layout = { share = 0.0205, count = 13, longest = 0.84, lost = 1.33e5, remedy = true } } },
      expect = "silent" },
    { name = "no conversions",
      facts = { window = { device_time = 1e9 }, kernel = { layout = { share = 0, count = 0, longest = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
