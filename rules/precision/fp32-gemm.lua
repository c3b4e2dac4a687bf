-- Matrix and convolution kernels that compute in FP32 on the ordinary cores of a GPU that has tensor cores.
-- TF32 kernels carry "f32f32" in their names, too, but use tensor cores and are not counted.
-- A solver may need the digits that TF32 and bf16 drop: what it would win is not known before somebody has checked its
-- results, so nothing is claimed.
local function complex(kernel) return matches(kernel, "*cgemm*") and not matches(kernel, "*gcgemm*") end

local function solves(run, kernel)
  -- Convolutions of cuDNN are those of a network, whatever else the run looks like.
  if matches(kernel, "*cudnn*") or matches(kernel, "*conv*") or matches(kernel, "*at::native*") then return false end
  local languages = run.languages or ""
  -- Of a framework for models whose loop nothing tells; arrays alone may well be a solver's.
  if contains(languages, "Python") then return run.kind == "solver" and run.framework == "CuPy" end
  -- Complex numbers are those of physics and of signals.
  if complex(kernel) then return true end
  return run.kind == "solver" or contains(languages, "MPI") or contains(languages, "Fortran") or contains(languages, "OpenACC") or contains(languages, "OpenMP") or
         contains(languages, "Kokkos")
end

-- Whether a convolution runs without tensor cores beside others of the same library that use them in TF32: it is allowed
-- already, and the library chose otherwise.
local function allowed(rows, kernel)
  local function convolves(name) return matches(name, "*cudnn*") or matches(name, "*conv*") end
  return convolves(kernel) and #filter(rows or {}, function(row) return matches(row.name, "*tf32*") and convolves(row.name) end) > 0
end

-- The share of the kernel time that the kernel has which takes most of it; as much as all where it is not among the rows.
local function longest(rows, e)
  local found = filter(rows or {}, function(row) return row.name == e.name end)
  return found[1] and found[1].share or e.compute_share
end

return {
  id        = "precision/fp32-gemm",
  title     = "Run matrix products on the tensor cores",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 65,
  explains  = { "kernel/hot", "precision/tensor-idle", "step/low-mfu" },
  knowledge = { "K-K13", "K-H1", "K-H17", "K-N12", "K-N18", "K-F4" },
  effort    = "flag",

  loss       = "precision.fp32",
  evidence   = { "count", "speedup", compute_share = "share", name = "top" },
  needs      = { "precision.fp32.remedy" },
  optional   = { "run.kind", "run.framework", "run.languages", "hw.known", "hw.compute_capability", "hw.peak_tensor_flops", "roofline.shapes.rows",
                 "kernel.top" },
  thresholds = { "min_share", "min_speedup", "bf16_capability" },

  symptom = "FP32 matrix kernels without tensor cores take {share:pct} of the time: {count:count} {per:text}, {mostly:text} {name:kernel}.",
  cause   = "Plain FP32 products run on the ordinary cores, not on the tensor cores, whose peak rate is {times:text} times as high{more:text}.",
  fixes   = {
    { reason = "bf16", action = "Compute in bf16 with autocast, which the saving above assumes",
      snippet = "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n    out = model(x)   # in training, the loss as well; backward() stays outside",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "allowed", action = "Compute in bf16 with autocast, which the saving above assumes",
      snippet = "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n    out = model(x)   # in training, the loss as well; backward() stays outside",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "allowed", action = "Pad the channels of these convolutions to a multiple of 8, or fold pixels into channels (space-to-depth) before the first layer" },
    { reason = "fp16", action = "Compute in fp16 with autocast, which the saving above assumes: this GPU has no tensor cores for bf16",
      snippet = "with torch.autocast(\"cuda\", dtype=torch.float16):\n    out = model(x)", language = "python", ["for"] = { "pytorch", "inference" } },
    { reason = "fp16", action = "Compute in fp16 with autocast and a gradient scaler, which the saving above assumes: this GPU has no tensor cores for bf16",
      snippet = "scaler = torch.amp.GradScaler(\"cuda\")\nwith torch.autocast(\"cuda\", dtype=torch.float16):\n    loss = loss_fn(model(x), y)\nscaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "bf16", action = "If the types must stay, allow TF32 for FP32 products: it reaches about half the rate of bf16, and rounds factors to 10 bits of mantissa",
      snippet = "torch.set_float32_matmul_precision(\"high\")\ntorch.backends.cudnn.allow_tf32 = True", language = "python", ["for"] = { "pytorch" } },
    { reason = "bf16", action = "Spend the memory that 16-bit activations leave free on a larger batch per GPU, and check that training still converges",
      ["for"] = { "pytorch", "training" } },
    { reason = "fp16", action = "Spend the memory that 16-bit activations leave free on a larger batch per GPU, and check that training still converges",
      ["for"] = { "pytorch", "training" } },
    { reason = "bf16", action = "In CUDA C++, allow TF32 in cuBLAS and cuDNN",
      snippet = "cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);\ncudnnSetConvolutionMathType(convolution, CUDNN_DEFAULT_MATH);   // not CUDNN_FMA_MATH", language = "cpp", ["for"] = { "c++" } },
    { reason = "fp16", action = "In CUDA C++, store the operands in fp16 and accumulate in FP32 (cublasGemmEx)", ["for"] = { "c++" } },
    { reason = "solver", action = "On B200 and GB200 GPUs with cuBLAS 12.9 and later, let cuBLAS compute each FP32 product from nine bf16 products: results are as accurate as those of FP32",
      snippet = "export CUBLAS_EMULATE_SINGLE_PRECISION=1 CUBLAS_EMULATION_STRATEGY=performant", language = "bash", ["for"] = { "c++", "fortran", "openacc", "openmp", "mpi", "python", "nvidia" } },
    { reason = "solver", action = "For dense linear systems, factorize in TF32 or fp16 and refine the solution to full precision (cusolverDnIRSXgesv)", ["for"] = { "c++", "fortran", "mpi", "nvidia" } },
    { reason = "solver", action = "Where products need no more than 10 bits of mantissa, allow TF32 for them alone, and compare residuals and the number of iterations",
      snippet = "cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);", language = "cpp", ["for"] = { "c++", "nvidia" } },
    { reason = "bf16", action = "In JAX, allow TF32 for FP32 products",
      snippet = "jax.config.update(\"jax_default_matmul_precision\", \"tensorfloat32\")", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Computations that need full FP32 products, such as many solvers. Check the results after the change.",
  references = { "pytorch/tf32", "pytorch/amp", "nvidia/mixed-precision" },

  applies = function(f)
    if f.hw.known and f.hw.peak_tensor_flops == nil then return false, "the GPU has no tensor cores" end
    return f.precision.fp32.count > 0, "no matrix kernel runs in FP32 without tensor cores"
  end,

  detect = function(f, t, e)
    -- Work that the memory limits, such as depthwise convolutions, wins nothing by faster arithmetic.
    local moving = sum(filter(f.roofline.shapes.rows or {}, function(row)
      return row.dtype == "fp32" and row.pipe == "plain" and row.side == "memory" and (row.kind == "product" or row.kind == "convolution")
    end), "time")
    if 2 * moving > f.precision.fp32.lost.time then return nil end
    -- Tensor cores take bf16 and TF32 from Ampere on; GPUs of AMD give no such number.
    local tenths = math.floor(10 * e.speedup + 0.5)
    e.times = tostring(tenths % 10 == 0 and tenths // 10 or tenths / 10)
    e.more = ""
    e.mostly = 2 * longest(f.kernel.top, e) >= e.compute_share and "mostly" or "the longest of them"
    local form = (f.hw.compute_capability or t.bf16_capability) < t.bf16_capability and "fp16" or "bf16"
    -- Products of complex numbers have TF32, but no fp16 (cuDNN's convolutions by FFT can compute in another way).
    if form == "fp16" and complex(e.name) then return nil end
    if solves(f.run, e.name) then
      e.reason, e.more = "solver", ". TF32 and bf16 keep 3 and 2 decimal digits of each factor, which can change what a solver computes"
      return e
    end
    e.reason = form
    if e.reason == "bf16" and allowed(f.kernel.top, e.name) then
      e.reason, e.more = "allowed", ". Other convolutions of this run use TF32, so it is allowed; these probably have too few channels"
    end
    return e
  end,

  saving = function(f, t, e)
    if e.reason == "solver" then return nil end
    return { claims = f.precision.fp32.lost, remedy = f.precision.fp32.remedy, confidence = 0.8,
             basis = "the same products run on tensor cores, as fast as memory allows" }
  end,

  tests = {
    { name = "complex products of a program in C++ on an A100",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 312e12, compute_capability = 8.0 }, run = { languages = "CUDA C++", kind = "loop" },
                precision = { fp32 = { share = 0.5, count = 289, top = "ampere_cgemm_64x64_nt", lost = 5e8, remedy = true, speedup = 8 } } },
      expect = { reason = "solver" }, saving = { claims = 0 } },
    { name = "the longest of many such kernels",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 312e12 },
                kernel = { top = { { name = "gemm_bf16", share = 0.3 }, { name = "ampere_sgemm_128x64_tn", share = 0.08 } } },
                precision = { fp32 = { share = 0.5, count = 289, top = "ampere_sgemm_128x64_tn", lost = 5e8, remedy = true, speedup = 8 } } },
      expect = { mostly = "the longest of them" } },
    { name = "nine tenths of the time in sgemm on an A100",
      edges = { ["precision.fp32.lost"] = 1e8, ["precision.fp32.speedup"] = 1.5 },
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 312e12 },
                precision = { fp32 = { share = 0.91, count = 289, top = "ampere_sgemm_128x64_tn", lost = 9.1e8, remedy = true, speedup = 8 } } },
      expect = { share = 0.91, count = 289, name = "ampere_sgemm_128x64_tn", speedup = 8, reason = "bf16", mostly = "mostly" },
      saving = { claims = 9.1e8 } },
    { name = "a V100 has tensor cores for fp16 only",
      edges = { ["hw.compute_capability"] = 8 },
      facts = { window = { device_time = 1e9 }, hw = { known = true, compute_capability = 7, peak_tensor_flops = 125e12 },
                precision = { fp32 = { share = 0.62, count = 289, top = "volta_sgemm_128x64_tn", lost = 5.2e8, remedy = true, speedup = 8 } } },
      expect = { share = 0.52, reason = "fp16" },
      saving = { claims = 5.2e8 } },
    { name = "near miss: products of complex numbers, for which a V100 has no tensor cores",
      facts = { window = { device_time = 1e9 }, hw = { known = true, compute_capability = 7, peak_tensor_flops = 125e12 },
                precision = { fp32 = { share = 0.62, count = 289, top = "volta_cgemm_64x64_nt", lost = 5.2e8, remedy = true, speedup = 8 } } },
      expect = "silent" },
    { name = "a solver: nothing is promised",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 312e12 }, run = { kind = "solver", languages = "CUDA C++, MPI" },
                precision = { fp32 = { share = 0.91, count = 289, top = "ampere_sgemm_128x64_tn", lost = 9.1e8, remedy = true, speedup = 8 } } },
      expect = { share = 0.91, reason = "solver" } },
    { name = "convolutions of a network are none",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 312e12 }, run = { kind = "solver", languages = "CUDA C++" },
                precision = { fp32 = { share = 0.91, count = 289, top = "ampere_scudnn_128x64_relu_medium_nn_v1", lost = 9.1e8, remedy = true, speedup = 8 } } },
      expect = { share = 0.91, reason = "bf16" },
      saving = { claims = 9.1e8 } },
    { name = "cuDNN runs other convolutions in TF32: nobody has to allow it",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 95e12 }, run = { kind = "inference", languages = "Python" },
                kernel = { top = { { name = "sm86_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_cudnn", share = 0.6 }, { name = "_5x_cudnn_ampere_scudnn_128x64_relu_medium_nn_v1", share = 0.1 } } },
                precision = { fp32 = { share = 0.1, count = 50, top = "_5x_cudnn_ampere_scudnn_128x64_relu_medium_nn_v1", lost = 1e8, remedy = true, speedup = 4 } } },
      expect = { share = 0.1, reason = "allowed", more = ". Other convolutions of this run use TF32, so it is allowed; these probably have too few channels" },
      saving = { claims = 1e8 } },
    { name = "products in FP32 beside convolutions in TF32, which cuDNN has allowed by default",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 95e12 }, run = { kind = "inference", languages = "Python" },
                kernel = { top = { { name = "sm86_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_cudnn", share = 0.6 }, { name = "ampere_sgemm_128x64_tn", share = 0.1 } } },
                precision = { fp32 = { share = 0.1, count = 50, top = "ampere_sgemm_128x64_tn", lost = 1e8, remedy = true, speedup = 4 } } },
      expect = { share = 0.1, reason = "bf16", more = "" }, saving = { claims = 1e8 } },
    { name = "a Fortran program",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 312e12 }, run = { kind = "one-pass", languages = "Fortran, OpenACC" },
                precision = { fp32 = { share = 0.91, count = 289, top = "ampere_sgemm_128x64_tn", lost = 9.1e8, remedy = true, speedup = 8 } } },
      expect = { share = 0.91, reason = "solver" } },
    { name = "training over MPI from Python is none",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 312e12 }, run = { kind = "training", languages = "Python, MPI" },
                precision = { fp32 = { share = 0.91, count = 289, top = "ampere_sgemm_128x64_tn", lost = 9.1e8, remedy = true, speedup = 8 } } },
      expect = { share = 0.91, reason = "bf16" },
      saving = { claims = 9.1e8 } },
    { name = "near miss: a few small products are left in FP32",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 312e12 },
                precision = { fp32 = { share = 0.05, count = 12, top = "ampere_sgemm_32x32_tn", lost = 5e7, remedy = true, speedup = 8 } } },
      expect = "silent" },
    { name = "near miss: FP32 products dominate a GPU that is busy copying",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 989e12 },
                precision = { fp32 = { share = 0.86, count = 170, top = "sm80_xmma_gemm_f32f32_ffma", lost = 2e7, remedy = true, speedup = 7 } } },
      expect = "silent" },
    { name = "near miss: depthwise convolutions, which the memory limits",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 312e12 },
                roofline = { shapes = { rows = { { op = "aten::_conv_depthwise2d", kind = "convolution", dtype = "fp32", pipe = "plain", side = "memory", time = 8e8 } } } },
                precision = { fp32 = { share = 0.91, count = 289, top = "conv_depthwise2d_forward_kernel", lost = 9.1e8, remedy = true, speedup = 8 } } },
      expect = "silent" },
    { name = "all products use tensor cores",
      facts = { window = { device_time = 1e9 }, hw = { known = true, peak_tensor_flops = 312e12 },
                precision = { fp32 = { share = 0, count = 0, lost = 0, remedy = true, speedup = 8 } } },
      expect = "not_applicable" },
    { name = "a GPU without tensor cores",
      facts = { window = { device_time = 1e9 }, hw = { known = true },
                precision = { fp32 = { share = 0.9, count = 100, top = "sgemm", lost = 9e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "an unknown GPU",
      facts = { window = { device_time = 1e9 }, hw = { known = false },
                precision = { fp32 = { share = 0.9, count = 100, top = "sgemm", lost = 9e8, remedy = true } } },
      expect = "cannot_tell" },
  },
}
