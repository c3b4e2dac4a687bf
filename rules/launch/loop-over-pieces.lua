-- The same small kernel with the same grid is launched again and again: a loop over rows, tensors or time steps in
-- Python.
return {
  id        = "launch/loop-over-pieces",
  title     = "Replace the loop over pieces with one batched operation",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 44,
  explains  = { "launch/tiny-kernels", "launch/bound" },
  knowledge = { "K-H6", "K-C3" },

  needs_loop = true,
  loss       = "kernel.repeated",
  evidence   = { count = "kernels" },
  optional   = { "launch.kernels_per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "Small kernels repeat the kernel before them, with the same grid: {count:count} {per:text}. The GPU waits between them for {share:pct} of the time.",
  cause   = "The host loops over pieces that one kernel could process together.",
  fixes   = {
    { action  = "Index with a tensor instead of looping",
      snippet = "y = x[rows] * scale[rows, None]           # instead of: for r in rows: y[r] = x[r] * scale[r]",
      language = "python", ["for"] = { "python" } },
    { action  = "Use the multi-tensor functions for lists",
      snippet = "torch._foreach_mul_(tensors, 0.5)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "If each piece is a chunk of a stream that is copied and worked on, use larger chunks: each copy and each launch costs microseconds, whatever its size",
      ["for"] = { "c++", "fortran", "cupy", "numba" } },
    { action = "For recurrences, use a fused kernel (cuDNN RNN, a scan), or compile the loop" },
  },
  false_positives = "Iterations that depend on each other and cannot be fused.",
  references = { "pytorch/compile", "pytorch/tuning-guide" },

  detect = function(f, t, e)
    -- Where an iteration is shorter than the series, it is the series that was counted.
    if e.count > (f.launch.kernels_per_step or e.count) then e.per = "in a row" end
    return e
  end,

  saving = { confidence = 0.5, basis = "one launch replaces each run of repeated kernels" },

  tests = {
    { name = "a loop over 200 rows",
      edges = { ["kernel.repeated.kernels"] = 16, ["kernel.repeated.lost"] = 3e7 },
      facts = { window = { device_time = 1e9 }, kernel = { repeated = { kernels = 160, lost = 9e7, remedy = true } } },
      expect = { share = 0.09, count = 160 },
      saving = { claims = 9e7, confidence = 0.5 } },
    { name = "a stream of chunks, each of which is an iteration",
      facts = { window = { device_time = 1e9 }, launch = { kernels_per_step = 1 }, kernel = { repeated = { kernels = 4000, lost = 9e7, remedy = true } } },
      expect = { count = 4000, per = "in a row" } },
    { name = "near miss: behind a full queue",
      facts = { window = { device_time = 1e9 }, kernel = { repeated = { kernels = 160, lost = 7.5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the few of a layer",
      facts = { window = { device_time = 1e9 }, kernel = { repeated = { kernels = 8, lost = 9e7, remedy = true } } },
      expect = "silent" },
    { name = "no kernel repeats this way",
      facts = { window = { device_time = 1e9 }, kernel = { repeated = { kernels = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
