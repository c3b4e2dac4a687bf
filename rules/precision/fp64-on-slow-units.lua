-- Double-precision matrix kernels on a GPU whose FP64 rate is a small fraction of its FP32 rate (1/32 or 1/64 on cards
-- for graphics and inference).
return {
  id        = "precision/fp64-on-slow-units",
  title     = "Use single precision on this GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 84,
  explains  = { "precision/double-by-default", "kernel/hot", "step/low-mfu" },
  knowledge = { "K-K13", "K-H1" },

  loss       = "precision.fp64",
  evidence   = { "count", ratio = "hw.fp64_ratio" },
  optional   = { "run.kind" },
  needs      = { "precision.fp64.remedy" },
  thresholds = { "min_share", "min_count", "max_ratio" },

  symptom = "Double-precision matrix kernels take {share:pct} of the time: {count:count} {per:text}. This GPU computes them at {ratio:pct} of its FP32 rate.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "solver", action = "Use a GPU built for double precision, or factorize in FP32 and refine the solution in FP64 (cusolverDnIRSXgesv)", ["for"] = { "c++", "fortran", "mpi", "openacc", "openmp", "nvidia" } },
    { reason = "solver", action = "On Blackwell GPUs with CUDA 13, let cuBLAS emulate FP64 on the tensor cores, and compare the results",
      snippet = "export CUBLAS_EMULATE_DOUBLE_PRECISION=1 CUBLAS_EMULATION_STRATEGY=performant", language = "bash", ["for"] = { "c++", "fortran", "mpi", "openacc", "openmp", "python", "nvidia" } },
    { reason = "!solver", action  = "Convert to single precision where data enters",
      snippet = [[x = torch.as_tensor(array, dtype=torch.float32, device="cuda")]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "!solver", action  = "In C++, write float literals",
      snippet = "y = 0.5f * x;             // 0.5 is double",
      language = "cpp", ["for"] = { "c++" } },
    { reason = "!solver", action = "If you need double precision, use a GPU built for it, or mixed-precision refinement" },
  },
  false_positives = "Programs that need double precision.",
  references = { "cuda-best-practices/guide" },

  -- A solver computes in double precision on purpose: what it could do without, nobody can tell from a trace.
  detect = function(f, t, e)
    if f.run.kind == "solver" then
      e.reason, e.why = "solver", "Solvers need double precision, and this GPU has few units for it."
    else
      e.why = "A NumPy array, a literal or a default type probably made the data double precision."
    end
    return e
  end,

  saving = function(f, t, e)
    if e.reason == "solver" then return nil end
    return { claims = f.precision.fp64.lost, remedy = f.precision.fp64.remedy, confidence = 0.6,
             basis = "FP32 brings at least a quarter of the speedup that the FP32 and FP64 peaks of this GPU allow" }
  end,

  tests = {
    { name = "dgemm on an RTX 4090",
      edges = { ["hw.fp64_ratio"] = 0.1, ["precision.fp64.count"] = 2, ["precision.fp64.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 20, lost = 9e7, remedy = true } }, hw = { fp64_ratio = 0.015625 } },
      expect = { share = 0.09, count = 20 },
      saving = { claims = 9e7, confidence = 0.6 } },
    { name = "a solver: nothing is promised",
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 20, lost = 9e7, remedy = true } }, hw = { fp64_ratio = 0.015625 }, run = { kind = "solver" } },
      expect = { share = 0.09, reason = "solver" } },
    { name = "near miss: a small solve",
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 20, lost = 7.5e6, remedy = true } }, hw = { fp64_ratio = 0.015625 } },
      expect = "silent" },
    { name = "near miss: few kernels",
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 1, lost = 9e7, remedy = true } }, hw = { fp64_ratio = 0.015625 } },
      expect = "silent" },
    { name = "no double-precision kernels ran",
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 0, lost = 0, remedy = true } }, hw = { fp64_ratio = 0.015625 } },
      expect = "not_applicable" },
    { name = "near miss: an A100, which is built for it",
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 20, lost = 5e8, remedy = true } }, hw = { fp64_ratio = 0.5 } },
      expect = "silent" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
