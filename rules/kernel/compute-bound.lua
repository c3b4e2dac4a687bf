-- The SMs limit the kernel, and the tensor cores rest: products in plain instructions. Only kernels that multiply matrices in
-- single precision or less count; what the SMs limit besides (stencils, random walks, FP64) is for kernel/arithmetic-bound.
local function multiplies(row)
  local double = matches(row.kernel, "*double*") or matches(row.kernel, "*dgemm*") or matches(row.kernel, "*zgemm*") or matches(row.kernel, "*f64*")
  return not double and (row.class == "matrix" or row.class == "convolution" or row.class == "attention")
end

return {
  id        = "kernel/compute-bound",
  title     = "Move the arithmetic to the tensor cores",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 49,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-E1" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.compute.lost" },
  thresholds = { "min_sm", "max_tensor", "min_weight", "winnable" },

  symptom = "Matrix kernels that are limited by the SMs and leave the tensor cores idle take {weight:pct} of the kernel time: {name:kernel} reaches {sm:pct} of the SMs' peak.",
  cause   = "Each operation goes through the ordinary pipes, which do a fraction of what the tensor cores do in the same time.",
  fixes   = {
    { action = "Run matrix products in TF32, bf16 or fp16", snippet = "torch.set_float32_matmul_precision(\"high\")     # TF32; or bf16:\nwith torch.autocast(\"cuda\", dtype=torch.bfloat16):\n    out = model(x)", language = "python", ["for"] = { "pytorch" } },
    { action = "In your own kernels, call a library or use matrix fragments for the inner product", snippet = "nvcuda::wmma::mma_sync(acc, a, b, acc);", language = "cpp", ["for"] = { "c++" } },
    { action = "Allow TF32 for FP32 products, or compute in bfloat16",
      snippet = "jax.config.update(\"jax_default_matmul_precision\", \"tensorfloat32\")", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Products that need all digits of FP32, and types that tensor cores do not support.",
  references = { "nvidia/tensor-core-alignment", "ncu/roofline" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "compute" and multiplies(row) and row.tensor >= 0 and at_most(row.tensor, t.max_tensor) and at_least(row.sm, t.min_sm)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    return { weight = weight, count = #rows, name = first.kernel, sm = first.sm, tensor = first.tensor,
             part = share(sum(rows, "lost"), f.counter.compute.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.compute.lost, part = e.part * t.winnable, confidence = 0.4,
             basis = "these kernels use the headroom that counters show" }
  end,

  tests = {
    { name = "a product in plain FP32",
      edges = { ["counter.rows[1].sm"] = 0.6, ["counter.rows[1].tensor"] = 0.02, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, compute = { lost = 4e8 }, rows = { { kernel = "matmul_tiled", weight = 0.6, lost = 200000000.0, bound = "compute", sm = 0.9, tensor = 0, class = "matrix" } } } },
      expect = { weight = 0.6, name = "matmul_tiled", sm = 0.9, part = 0.5 },
      saving = { claims = 4e8, part = 0.35 } },
    { name = "near miss: the tensor cores are at work",
      facts = { counter = { kernels = 1, compute = { lost = 4e8 }, rows = { { kernel = "matmul_tiled", weight = 0.6, lost = 200000000.0, bound = "compute", sm = 0.9, tensor = 0.7, class = "matrix" } } } },
      expect = "silent" },
    { name = "near miss: memory is the limit",
      facts = { counter = { kernels = 1, compute = { lost = 4e8 }, rows = { { kernel = "matmul_tiled", weight = 0.6, lost = 200000000.0, bound = "memory", sm = 0.5, tensor = 0, class = "matrix" } } } },
      expect = "silent" },
    { name = "near miss: a stencil is no product",
      facts = { counter = { kernels = 1, compute = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "compute", sm = 0.9, tensor = 0, class = "application" } } } },
      expect = "silent" },
    { name = "near miss: a product in double precision",
      facts = { counter = { kernels = 1, compute = { lost = 4e8 }, rows = { { kernel = "ampere_dgemm_128x64_nn", weight = 0.6, lost = 200000000.0, bound = "compute", sm = 0.9, tensor = 0, class = "matrix" } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, compute = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
