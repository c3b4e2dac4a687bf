-- The SMs limit a kernel that multiplies no matrices: a stencil, a random walk, an integral, a hash. Tensor cores do not help it.
-- How much less arithmetic would do, no counter says, so nothing is claimed.
local function in_double(name)
  return matches(name, "*double*") or matches(name, "*dgemm*") or matches(name, "*zgemm*") or matches(name, "*f64*")
end

return {
  id        = "kernel/arithmetic-bound",
  title     = "Do less arithmetic in kernels that the SMs limit",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 45,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-E1", "K-D1" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows" },
  thresholds = { "min_sm", "max_tensor", "min_weight" },

  symptom = "Kernels that are limited by the SMs and multiply no matrices take {weight:pct} of the kernel time: {name:kernel} reaches {sm:pct} of the SMs' peak{double:text}.",
  cause   = "The SMs execute instructions nearly all the time. More occupancy or faster memory changes nothing; only fewer or cheaper instructions do.",
  fixes   = {
    { action = "Find out which instructions take the time: FP64, integer divisions, functions such as exp and pow, address arithmetic",
      snippet = "ncu --set full --import-source yes --kernel-name-base demangled --launch-count 1 -o source -- COMMAND", language = "bash",
      ["for"] = { "nvidia" } },
    { reason = "fp64", action = "Compute in FP32 where the results allow it, or in FP64 only where digits are lost, such as in sums: FP64 runs at half the rate of FP32 at best, and at 1/32 or 1/64 of it on most GPUs outside the A100, H100 and B200 class",
      ["for"] = { "nvidia" } },
    { reason = "!fp64", action = "Look for FP64 that nobody meant: a constant such as 0.5 without an f makes the whole expression double",
      ["for"] = { "c++" } },
    { action = "Use cheaper functions where their accuracy suffices, and compare the results",
      snippet = "nvcc --use_fast_math app.cu     # or only where it matters: __expf(x), __fdividef(a, b), rsqrtf(x)", language = "bash", ["for"] = { "c++", "nvidia" } },
    { action = "Compute once what several threads or iterations need: tables, symmetry, common terms before the loop" },
  },
  false_positives = "Kernels that already do the least work that the result needs.",
  references = { "ncu/roofline", "cuda-best-practices/guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      if row.bound ~= "compute" or not at_least(row.sm, t.min_sm) then return false end
      -- What uses tensor cores, or could, is for other rules.
      local multiplies = row.class == "matrix" or row.class == "convolution" or row.class == "attention"
      return (in_double(row.kernel) or not multiplies) and at_most(row.tensor, t.max_tensor)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    local double = in_double(first.kernel)
    return { weight = weight, count = #rows, name = first.kernel, sm = first.sm, rows = worst, reason = double and "fp64" or nil,
             double = double and ", in double precision" or "" }
  end,

  tests = {
    { name = "a stencil",
      edges = { ["counter.rows[1].sm"] = 0.6, ["counter.rows[1].tensor"] = 0.02, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, rows = { { kernel = "stencil", weight = 0.6, bound = "compute", sm = 0.9, tensor = 0, class = "application" } } } },
      expect = { weight = 0.6, name = "stencil", sm = 0.9, double = "", rows = 1 } },
    { name = "a product in double precision",
      facts = { counter = { kernels = 1, rows = { { kernel = "volta_dgemm_128x64_nn", weight = 0.6, bound = "compute", sm = 0.9, tensor = -1, class = "matrix" } } } },
      expect = { reason = "fp64", double = ", in double precision" } },
    { name = "near miss: a product in FP32 is for the tensor cores",
      facts = { counter = { kernels = 1, rows = { { kernel = "matmul_tiled", weight = 0.6, bound = "compute", sm = 0.9, tensor = 0, class = "matrix" } } } },
      expect = "silent" },
    { name = "near miss: memory is the limit",
      facts = { counter = { kernels = 1, rows = { { kernel = "stencil", weight = 0.6, bound = "memory", sm = 0.9, tensor = 0, class = "application" } } } },
      expect = "silent" },
    { name = "no kernels in the output", facts = { counter = { kernels = 0, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
