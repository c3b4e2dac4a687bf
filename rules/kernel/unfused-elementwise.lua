-- Runs of element-wise kernels, each of which reads and writes all its data.
-- Every training step has some, so their share must be large. Single kernels between others do not count, nor do
-- neighbors on tensors of other sizes, such as an activation and the cast of a weight: there is nothing to fuse them to.
return {
  id        = "kernel/unfused-elementwise",
  title     = "Fuse runs of element-wise kernels",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 58,
  explains  = { "kernel/hot", "launch/tiny-kernels", "step/low-mfu" },
  knowledge = { "K-C5", "K-H6", "K-E3" },
  effort    = "code",

  optional       = { "run.kind" },
  loss           = "kernel.elementwise",
  evidence       = { "count", "runs", compute_share = "share" },
  thresholds     = { "min_share" },

  -- A benchmark launches one kernel again and again: nobody wants these as one.
  applies = function(f)
    if f.run.kind == "kernels" then return false, "only a few kernels ran" end
    return f.kernel.elementwise.count > 0, "no element-wise kernels ran"
  end,

  symptom = "Runs of element-wise and copy kernels take {share:pct} of the time: {count:count} kernels {per:text} where {runs:count} would do.",
  cause   = "Each of these kernels reads its input from device memory and writes its result back, for one or two operations per element. The next kernel reads it all again.",
  fixes   = {
    { action = "Compile the model: the compiler fuses each chain of element-wise operations into one kernel",
      snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
    { action = "Fuse each chain of array operations into one kernel: cupy.fuse, or cupy.ElementwiseKernel",
      snippet = "@cupy.fuse()\ndef update(x, y, a):\n    return x + a * y                      # one kernel, and no temporary array",
      language = "python", ["for"] = { "cupy" } },
    { action = "Compute everything of an element in one kernel, and keep intermediate values in local variables", ["for"] = { "numba" } },
    { action = "Use modules that come fused: activation with bias, normalization, rotary embedding, dropout with residual",
      ["for"] = { "pytorch", "jax", "tensorflow" } },
    { action = "Compute in 16 bit, so that what stays unfused moves half the bytes",
      snippet = "with torch.autocast(\"cuda\", dtype=torch.bfloat16):   # GPUs without bf16 units: torch.float16\n    out = model(x)", language = "python", ["for"] = { "pytorch" } },
    { action = "In CUDA C++, merge consecutive kernels over the same index range into one, and keep intermediate values in registers", ["for"] = { "c++" } },
  },
  false_positives = "Programs that are element-wise by nature and already do all work on an element in one kernel.",
  references = { "pytorch/compile", "pytorch/tuning-guide", "nvidia/gpu-background" },

  saving = { confidence = 0.5, basis = "each run of element-wise kernels becomes one kernel that reads and writes once" },

  tests = {
    { name = "half the time in 300 element-wise kernels a step",
      edges = { ["kernel.elementwise.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 },
                kernel = { elementwise = { share = 0.55, count = 300, runs = 80, lost = 5e8, remedy = true } } },
      expect = { share = 0.5, count = 300, runs = 80 },
      saving = { claims = 5e8 } },
    { name = "without steps the counts are those of the window",
      facts = { window = { device_time = 1e9 },
                kernel = { elementwise = { share = 0.4, count = 3000, runs = 700, lost = 4e8, remedy = true } } },
      expect = { share = 0.4 } },
    { name = "near miss: a little of the time, as a compiled step has it",
      facts = { window = { device_time = 1e9 },
                kernel = { elementwise = { share = 0.04, count = 300, runs = 80, lost = 4e7, remedy = true } } },
      expect = "silent" },
    { name = "one long run, as of a loss function written out",
      facts = { window = { device_time = 1e9 },
                kernel = { elementwise = { share = 0.5, count = 10, runs = 1, lost = 5e8, remedy = true } } },
      expect = { share = 0.5, count = 10, runs = 1 } },
    { name = "near miss: a benchmark of one operator",
      facts = { window = { device_time = 1e9 }, run = { kind = "kernels" },
                kernel = { elementwise = { share = 0.9, count = 20, runs = 1, lost = 9e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "no element-wise kernels",
      facts = { window = { device_time = 1e9 }, kernel = { elementwise = { share = 0, count = 0, runs = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
