-- The SMs limit the kernel, and the tensor cores rest: products in plain instructions.
return {
  id        = "kernel/compute-bound",
  title     = "Move the arithmetic to the tensor cores",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 49,
  explains  = { "kernel/hot" },
  knowledge = { "K-E1" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.compute.lost" },
  thresholds = { "min_sm", "max_tensor", "min_weight", "winnable" },

  symptom = "Kernels that are limited by the SMs and leave the tensor cores idle take {weight:pct} of the kernel time: {name:kernel} reaches {sm:pct} of the SMs' peak{above:text}.",
  cause   = "Each operation goes through the ordinary pipes, which do a fraction of what the tensor cores do in the same time.",
  fixes   = {
    { action = "Run matrix products in TF32, bf16 or fp16", snippet = "torch.set_float32_matmul_precision(\"high\")     # TF32; or bf16:\nwith torch.autocast(\"cuda\", dtype=torch.bfloat16):\n    out = model(x)", language = "python", ["for"] = { "pytorch" } },
    { action = "In your own kernels, call a library or use matrix fragments for the inner product", snippet = "nvcuda::wmma::mma_sync(acc, a, b, acc);", language = "cpp", ["for"] = { "c++" } },
    { action = "If the work is no matrix product, compute less: cheaper functions, tables, symmetry" },
  },
  false_positives = "Integer work, sorting, and functions that tensor cores do not support.",
  references = { "nvidia/tensor-core-alignment", "ncu/roofline" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "compute" and row.tensor >= 0 and at_most(row.tensor, t.max_tensor) and at_least(row.sm, t.min_sm)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    return { weight = weight, count = #rows, name = first.kernel, sm = first.sm, tensor = first.tensor,
             above = (first.class == "matrix" or first.class == "convolution") and ", and is a matrix product" or "", part = share(sum(rows, "lost"), f.counter.compute.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.compute.lost, part = e.part * t.winnable, confidence = 0.4,
             basis = "the headroom of these kernels; for matrix products, at the rate of the tensor cores" }
  end,

  tests = {
    { name = "a product in plain FP32",
      edges = { ["counter.rows[1].sm"] = 0.6, ["counter.rows[1].tensor"] = 0.02, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, compute = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "compute", sm = 0.9, tensor = 0, class = "matrix" } } } },
      expect = { weight = 0.6, name = "stencil", sm = 0.9, above = ", and is a matrix product", part = 0.5 },
      saving = { claims = 4e8, part = 0.35 } },
    { name = "near miss: the tensor cores are at work",
      facts = { counter = { kernels = 1, compute = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "compute", sm = 0.9, tensor = 0.7, class = "matrix" } } } },
      expect = "silent" },
    { name = "near miss: memory is the limit",
      facts = { counter = { kernels = 1, compute = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", sm = 0.5, tensor = 0, class = "matrix" } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, compute = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
