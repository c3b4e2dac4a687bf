-- A long series of one kernel with one grid of a few blocks, or of a few such kernels in turn (a factorization and its
-- solve), and nothing between: pieces of one job, launched one by one. Neither the host nor the GPU gets anywhere: launching a piece takes as long as computing it, on one SM.
-- The timeline does not tell whether a piece needs the one before it, which lowers the confidence.
return {
  id        = "launch/tiny-pieces",
  title     = "Launch all pieces at once, with a block for each",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 62,
  explains  = { "launch/loop-over-pieces", "launch/tiny-kernels", "kernel/many-tiny", "launch/bound", "launch/graph-candidate",
                "kernel/small-grid", "kernel/low-concurrency", "kernel/hot", "host/cpu-bound" },
  knowledge = { "K-H6", "K-C3", "K-F2" },

  loss           = "kernel.pieces",
  not_applicable = "no kernel of a few blocks comes many times in a row",
  evidence       = { "count", "kernels", "body" },
  thresholds     = { "min_share", "least_launches" },

  symptom = "{what:text} {kernels:count} times in a row{average:text}, with the same grids. Such series span {share:pct} of the time.",
  cause   = "Each launch costs the host microseconds, and each kernel uses a few SMs while the others are idle. One launch could do all pieces at once, if none needs the result of another.",
  fixes   = {
    { action  = "Give the kernel one block per piece, and launch it once",
      snippet = "kernel<<<n, 128, 0, stream>>>(data, n);   // n pieces: each block does that of its blockIdx.x",
      language = "cpp", ["for"] = { "c++" } },
    { action  = "Where a library does each piece, such as a small system of equations, call its batched form once for all",
      snippet = "cublasDgetrfBatched(handle, n, matrices, n, pivots, infos, count);   // then cublasDgetrsBatched",
      language = "cpp", ["for"] = { "c++", "fortran" } },
    { action = "Put the loop over pieces into the grid: one block for each piece", ["for"] = { "numba", "cupy" } },
    { action  = "Work on all pieces with one batched operation",
      snippet = "y = torch.vmap(f)(x)                       # instead of: for piece in x: f(piece)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Where each piece needs the one before it, loop inside one kernel, or capture the series as a CUDA graph" },
  },
  false_positives = "Series in which each kernel needs the result of the one before it: then only the launches can be saved.",
  references = { "cuda-best-practices/occupancy", "nvidia/gpu-background" },

  detect = function(f, t, e)
    if not at_least(e.kernels * math.max(1, e.body), t.least_launches) then return nil end
    e.average = e.count > 1 and " (on average)" or ""
    e.what = e.body > 1 and "A few small kernels, each of a few blocks, are launched in turn" or "A small kernel of a few blocks is launched"
    return e
  end,

  saving = { confidence = 0.5, basis = "the pieces do not depend on each other, and each SM takes one block at a time" },

  tests = {
    { name = "thousands of systems, each with a kernel of one block",
      edges = { ["kernel.pieces.lost"] = 2e7, ["kernel.pieces.kernels"] = 100 },
      facts = { window = { device_time = 1e9 }, kernel = { pieces = { count = 3, kernels = 4096, body = 1, lost = 9e8, remedy = true } } },
      expect = { share = 0.9, count = 3, kernels = 4096, average = " (on average)" },
      saving = { claims = 9e8, confidence = 0.5 } },
    { name = "small systems, each solved by three kernels",
      facts = { window = { device_time = 1e9 }, kernel = { pieces = { count = 60, kernels = 150, body = 3, lost = 9e8, remedy = true } } },
      expect = { what = "A few small kernels, each of a few blocks, are launched in turn", kernels = 150, body = 3 } },
    { name = "one series",
      facts = { window = { device_time = 1e9 }, kernel = { pieces = { count = 1, kernels = 4096, body = 1, lost = 9e8, remedy = true } } },
      expect = { count = 1, average = "" } },
    { name = "near miss: a small part of the run",
      facts = { window = { device_time = 1e9 }, kernel = { pieces = { count = 3, kernels = 4096, body = 1, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the steps of one algorithm",
      facts = { window = { device_time = 1e9 }, kernel = { pieces = { count = 3, kernels = 70, body = 1, lost = 9e8, remedy = true } } },
      expect = "silent" },
    { name = "kernels fill the GPU",
      facts = { window = { device_time = 1e9 }, kernel = { pieces = { count = 0, kernels = 0, body = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
