-- PyTorch computes in double precision where the data came that way: from NumPy, whose default it is. Each tensor then takes
-- twice the memory traffic, and products run at half the rate of FP32 at best.
return {
  id        = "precision/double-by-default",
  title     = "Compute in single precision unless the results need double",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 66,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-K13", "K-H1" },

  loss       = "precision.double",
  evidence   = { "count" },
  optional   = { "run.framework" },
  thresholds = { "min_share", "min_count" },

  symptom = "Kernels on double-precision tensors take {share:pct} of the time: {count:count} {per:text}.",
  cause   = "NumPy arrays are double precision by default, and one such tensor makes everything computed with it double, too.",
  fixes   = {
    { action  = "Convert to single precision where data enter, also masks, weights, and complex constants",
      snippet = [[x = torch.as_tensor(array, dtype=torch.float32, device="cuda")     # complex128: torch.complex64
model.float()                                                      # parameters and buffers]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Where the results need double precision, keep it for the few sums that lose digits" },
  },
  false_positives = "Programs whose results need double precision, such as some physics and optimization codes.",
  references = { "pytorch/tuning-guide" },

  -- Programs in C++ and Fortran choose their types.
  applies = function(f)
    return f.precision.double.count > 0 and contains(f.run.framework or "", "PyTorch"),
           "no double-precision kernels of PyTorch ran"
  end,

  saving = { confidence = 0.5, basis = "these kernels take half the time in FP32, which moves half the bytes" },

  tests = {
    { name = "a model that was made double because its data were",
      edges = { ["precision.double.count"] = 4, ["precision.double.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 }, run = { framework = "PyTorch" }, precision = { double = { count = 400, lost = 9e8, remedy = true } } },
      expect = { share = 0.9, count = 400 },
      saving = { claims = 9e8, confidence = 0.5 } },
    { name = "near miss: a loss summed in double precision",
      facts = { window = { device_time = 1e9 }, run = { framework = "PyTorch" }, precision = { double = { count = 6, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one sum per step",
      facts = { window = { device_time = 1e9 }, run = { framework = "PyTorch" }, precision = { double = { count = 1, lost = 9e7, remedy = true } } },
      expect = "silent" },
    { name = "a solver in CUDA C++",
      facts = { window = { device_time = 1e9 }, precision = { double = { count = 400, lost = 9e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
