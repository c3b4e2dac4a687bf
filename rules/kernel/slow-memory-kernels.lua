-- Normalizations, softmax, reductions, element-wise kernels, copies and look-ups that take much longer than their bytes
-- need at the rate that such kernels reach: measured by recorded sizes.
local why = {
  ["strided"] = "The tensors have different layouts, so one of them is read in strides and most of the fetched bytes are not used.",
  ["short-rows"] = "Rows are so short that most threads of a block have nothing to do.",
  ["long-rows"] = "There are few rows to reduce (in batch norm: channels), and each is long, so only a few blocks work.",
  ["not-vectorized"] = "The kernel moves one element at a time: addresses, types or strides do not allow wide loads.",
  ["compiled"] = "A compiler made this kernel, and its block sizes may not fit this GPU; or other kernels compete for memory.",
  ["small"] = "Each kernel moves little data and ends before memory reaches its full bandwidth.",
  [""] = "The kernel may read its data too often, or others compete for memory. Atomic updates are slow, too. At these sizes, good libraries are faster.",
}

return {
  id        = "kernel/slow-memory-kernels",
  title     = "Speed up memory-bound kernels that reach little of the memory bandwidth",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 56,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-E1", "K-C5", "K-D2" },
  effort    = "code",

  loss           = "roofline.below.memory",
  not_applicable = "no recorded memory-bound operator is far below the memory bandwidth",
  evidence       = { "count", "rows" },
  thresholds     = { "min_share", "min_good" },

  symptom = "{op:text} {shape:text} in {dtype:text} reaches {attained:pct} of {roof:text}; good libraries reach {good:pct}. Such operators waste {share:pct} of the time. The kernel is {place:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "strided", action = "Where layouts differ, keep one throughout, and copy once where it must change",
      snippet = "x = x.contiguous()", language = "python", ["for"] = { "pytorch" } },
    { reason = "compiled", action = "Where a compiler made the kernel, update the compiler, and let it measure block sizes and reductions for this GPU",
      snippet = 'model = torch.compile(model, mode="max-autotune")\ntorch._inductor.config.coordinate_descent_tuning = True', language = "python", ["for"] = { "pytorch" } },
    { reason = "!compiled", action = "Compile the part of the model around it: fused kernels move each value once",
      snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
    { reason = "short-rows", action = "Where rows are short, use a kernel that processes many of them per block (Triton, Apex, Liger), or move the short dimension" },
    { reason = "long-rows", action = "Where rows are few and long, split each across several blocks and add up the parts (CUB, Triton), or let torch.compile do so" },
    { reason = "small", action = "Where tensors are small, process many of them in one operation (foreach, cat)" },
    { reason = "not-vectorized", action = "Where one element is moved at a time, align slices to 16 bytes and keep both operands in the same type" },
    { action = "Profile the kernel: ncu shows which unit or which wait limits it",
      snippet = "ncu --set full --kernel-name 'regex:^{kernel_name:function}$' --launch-count 3 -o slow -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Profile the kernel: rocprof-compute shows which unit or which wait limits it",
      snippet = "rocprof-compute profile --name slow --kernel {kernel_name:function} -- COMMAND", language = "bash", ["for"] = { "amd" } },
  },
  false_positives = "Kernels that share the memory with other kernels on the same GPU.",
  references = { "nvidia/gpu-background", "rocm/tuning", "pytorch/compile" },

  detect = function(f, t, e)
    local worst = filter(f.roofline.below.memory.rows, function(row) return at_least(row.good, t.min_good) end)[1]
    if not worst then return nil end
    e.why = why[worst.reason] or why[""]
    return adopt(e, worst)
  end,

  saving = { confidence = 0.5, basis = "these operators run as fast as in good libraries at the same sizes" },

  tests = {
    { name = "half of the time could be won",
      edges = { ["roofline.below.memory.lost"] = 1e7, ["roofline.below.memory.rows[1].good"] = 0.02 },
      facts = { window = { device_time = 1e9 },
                roofline = { below = { memory = { count = 10, lost = 4.8e8, remedy = true, rows = { { op = "aten::add", shape = "[8192, 8192]", dtype = "fp32", place = "vectorized_elementwise_kernel<CUDAFunctor_add>", kernel_name = "vectorized_elementwise_kernel<CUDAFunctor_add>", reason = "", roof = "the memory bandwidth", attained = 0.2, good = 0.5 } } } } } },
      expect = { share = 0.48, attained = 0.2, good = 0.5, op = "aten::add", reason = "", roof = "the memory bandwidth", rows = 1 },
      saving = { claims = 4.8e8 } },
    { name = "near miss: tensors so small that no library reaches more",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { memory = { count = 10, lost = 4.8e8, remedy = true, rows = { { op = "aten::add", shape = "[8192, 8192]", dtype = "fp32", place = "vectorized_elementwise_kernel<CUDAFunctor_add>", kernel_name = "vectorized_elementwise_kernel<CUDAFunctor_add>", reason = "", roof = "the memory bandwidth", attained = 0.2, good = 0.0009 } } } } } },
      expect = "silent" },
    { name = "near miss: too little to win",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { memory = { count = 10, lost = 5e6, remedy = true, rows = { { op = "aten::add", shape = "[8192, 8192]", dtype = "fp32", place = "vectorized_elementwise_kernel<CUDAFunctor_add>", kernel_name = "vectorized_elementwise_kernel<CUDAFunctor_add>", reason = "", roof = "the memory bandwidth", attained = 0.2, good = 0.5 } } } } } },
      expect = "silent" },
    { name = "near miss: all run as good libraries do", facts = { window = { device_time = 1e9 },
                roofline = { below = { memory = { count = 0, lost = 0, remedy = true, rows = {  } } } } }, expect = "not_applicable" },
    { name = "sizes were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
