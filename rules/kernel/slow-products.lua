-- Matrix products that take much longer than good libraries take for the same sizes: measured by recorded sizes.
-- Which sizes they are, how far they stay below their roof, and what about them is hard for the GPU.
local why = {
  ["fp64-units"] = "They compute in FP64, which is far slower than any other type.",
  ["fp32-units"] = "They compute in FP32 without the matrix units, which are many times faster.",
  ["odd-sizes"] = "The distance between rows is not a multiple of 16 bytes, so the matrix units get their data piece by piece.",
  ["few-tiles"] = "The result has fewer tiles than the GPU has SMs, so some SMs have no work while the others loop over a long inner dimension (K).",
  ["short-sums"] = "The inner dimension (K) is short, so most of the time goes into writing the result. Memory is the limit, and the kernel does not keep it busy.",
  ["few-uses"] = "One side of the result has few rows, so the weights are read for little work. Memory is the limit, and the kernel does not keep it busy.",
  ["own-matrix"] = "Each product has one row and its own matrix, which is read for little work.",
  ["grouped"] = "The rows are split among groups, and small groups leave tiles half empty.",
  [""] = "The library may have chosen a poor kernel, or other kernels compete. At these sizes, good libraries are faster.",
}

return {
  id        = "kernel/slow-products",
  title     = "Speed up matrix products that run far below the peak",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 57,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-E1", "K-H1", "K-C5" },
  effort    = "code",

  loss           = "roofline.below.products",
  not_applicable = "no recorded matrix product runs far below what the GPU allows",
  evidence       = { "count", "rows" },
  thresholds     = { "min_share" },

  symptom = "{op:text} {shape:text} in {dtype:text} reaches {attained:pct} of {roof:text}; good libraries reach {good:pct}. Such products waste {share:pct} of the time. The kernel is {place:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "odd-sizes", action = "Where a size is not a multiple of 8, pad it to a multiple of 64: vocabulary, classes, hidden sizes",
      snippet = "padded = 64 * ((features + 63) // 64)\nlayer = torch.nn.Linear(hidden, padded)   # ignore the outputs past the last feature", language = "python", ["for"] = { "pytorch" } },
    { reason = "fp32-units", action = "Where products run in FP32 without the matrix units, allow TF32 or use bf16",
      snippet = "torch.set_float32_matmul_precision(\"high\")", language = "python", ["for"] = { "pytorch" } },
    { reason = "fp64-units", action = "Where products run in FP64, compute in FP32 or TF32 as far as the accuracy allows, and refine the result in FP64" },
    { reason = "few-tiles", action = "Where results have few tiles, split the inner dimension across more blocks (split-K, stream-K), or compute several products in one call" },
    { reason = "short-sums", action = "Where the inner dimension is short, fuse the product with the operators that read its result: fused attention, or torch.compile",
      snippet = "out = torch.nn.functional.scaled_dot_product_attention(q, k, v)   # instead of: softmax(q @ k.T) @ v", language = "python", ["for"] = { "pytorch" } },
    { reason = "few-uses", action = "Where few rows use the weights, use a larger batch, or store weights that are not packed yet in fewer bytes (FP8, INT4): both do more work per byte read" },
    { reason = "own-matrix", action = "Let the rows that share a matrix use it together, in one grouped product: a larger batch only adds matrices" },
    { reason = "grouped", action = "Where rows are split among groups, use one grouped product for all of them, and sort rows so that each group fills whole tiles" },
    { action = "Update the library, and let it measure its kernels for these sizes",
      snippet = "model = torch.compile(model, mode=\"max-autotune\")", language = "python", ["for"] = { "pytorch", "nvidia" } },
    { action = "Update the library, and let it measure its kernels for these sizes",
      snippet = "torch.cuda.tunable.enable()   # PyTorch TunableOp\nmodel = torch.compile(model, mode=\"max-autotune\")", language = "python", ["for"] = { "pytorch", "amd" } },
    { action = "Profile the kernel: ncu shows which unit or which wait limits it",
      snippet = "ncu --set full --kernel-name 'regex:^{kernel_name:function}$' --launch-count 3 -o slow -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Profile the kernel: rocprof-compute shows which unit or which wait limits it",
      snippet = "rocprof-compute profile --name slow --kernel {kernel_name:function} -- COMMAND", language = "bash", ["for"] = { "amd" } },
  },
  false_positives = "Products that share the GPU with other streams. Clocks that power or heat holds down.",
  references = { "nvidia/tensor-core-alignment", "nvidia/gpu-background", "rocm/tuning" },

  detect = function(f, t, e)
    local worst = f.roofline.below.products.rows[1]
    adopt(e, worst)
    if e.reason == "few-uses" and e.op == "aten::bmm" and contains(e.shape, ", 1, ") then e.reason = "own-matrix" end
    e.why = why[e.reason] or why[""]
    return e
  end,

  saving = { confidence = 0.5, basis = "matrix products run as fast as in good libraries at the same sizes" },

  tests = {
    { name = "each row is multiplied by its own matrix",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { products = { count = 10, lost = 4.8e8, remedy = true, rows = { { op = "aten::bmm", shape = "[128, 1, 512] x [128, 512, 1024]", dtype = "bf16", place = "gemv", kernel_name = "gemv", reason = "few-uses", roof = "the memory bandwidth", attained = 0.55, good = 0.8 } } } } } },
      expect = { reason = "own-matrix", why = "Each product has one row and its own matrix, which is read for little work." } },
    { name = "a batch of products of a few rows each",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { products = { count = 10, lost = 4.8e8, remedy = true, rows = { { op = "aten::bmm", shape = "[128, 4, 512] x [128, 512, 1024]", dtype = "bf16", place = "gemv", kernel_name = "gemv", reason = "few-uses", roof = "the memory bandwidth", attained = 0.55, good = 0.8 } } } } } },
      expect = { reason = "few-uses" } },
    { name = "half of the time could be won",
      edges = { ["roofline.below.products.lost"] = 1e7 },
      facts = { window = { device_time = 1e9 },
                roofline = { below = { products = { count = 10, lost = 4.8e8, remedy = true, rows = { { op = "aten::mm", shape = "[256, 131072] x [131072, 512]", dtype = "bf16", place = "Cijk_Ailk_Bljk", kernel_name = "Cijk_Ailk_Bljk", reason = "few-tiles", roof = "the peak", attained = 0.2, good = 0.5 } } } } } },
      expect = { share = 0.48, attained = 0.2, good = 0.5, op = "aten::mm", reason = "few-tiles", roof = "the peak", rows = 1 },
      saving = { claims = 4.8e8 } },
    { name = "near miss: too little to win",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { products = { count = 10, lost = 5e6, remedy = true, rows = { { op = "aten::mm", shape = "[256, 131072] x [131072, 512]", dtype = "bf16", place = "Cijk_Ailk_Bljk", kernel_name = "Cijk_Ailk_Bljk", reason = "few-tiles", roof = "the peak", attained = 0.2, good = 0.5 } } } } } },
      expect = "silent" },
    { name = "near miss: all run as good libraries do", facts = { window = { device_time = 1e9 },
                roofline = { below = { products = { count = 0, lost = 0, remedy = true, rows = {  } } } } }, expect = "not_applicable" },
    { name = "sizes were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
