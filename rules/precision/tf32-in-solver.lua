-- A solver whose products run in TF32. The library does so only when it is asked to, by a setting that others chose for networks.
return {
  id        = "precision/tf32-in-solver",
  title     = "Check that products in TF32 are accurate enough for this solver",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "flag",
  risk      = "wrong-results",
  knowledge = { "K-H22", "K-N18" },

  needs      = { "kernel.top", "run.kind" },
  optional   = { "run.framework" },
  thresholds = { "min_share" },

  symptom = "The run looks like a solver, and products in TF32 take {share:pct} of its kernel time: {name:kernel}.",
  cause   = "TF32 rounds each factor to 10 bits of mantissa, three decimal digits. Neural networks tolerate that. An iterative solver may converge more slowly, or to another result, and no error is reported.",
  fixes   = {
    { action = "Run once without TF32, and compare residuals, the number of iterations and the results", snippet = "NVIDIA_TF32_OVERRIDE=0 COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "If the results differ, ask for full FP32 where it matters", snippet = "torch.set_float32_matmul_precision(\"highest\")", language = "python", ["for"] = { "pytorch" } },
    { action = "If the results differ, set cuBLAS's math mode back to CUBLAS_DEFAULT_MATH for the products that matter", ["for"] = { "c++" } },
    { action = "If the results differ, ask for full FP32 where it matters",
      snippet = "jax.config.update(\"jax_default_matmul_precision\", \"float32\")", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Solvers that refine their results in full precision, and neural networks inside a simulation.",
  references = { "pytorch/tf32" },

  applies = function(f) return f.run.kind == "solver" and (f.run.framework or "") == "", "nothing shows that the program is a solver without a framework" end,

  detect = function(f, t)
    local rows = filter(f.kernel.top, function(row)
      return row.class == "matrix" and matches(row.name, "*tf32*") and not matches(row.name, "*cudnn*") and not matches(row.name, "*conv*")
    end)
    local part = sum(rows, "share")
    if #rows == 0 or not at_least(part, t.min_share) then return nil end
    return { share = part, name = rows[1].name, rows = rows }
  end,

  tests = {
    { name = "a solver in TF32",
      edges = { ["kernel.top[1].share"] = 0.05 },
      facts = { run = { kind = "solver" }, kernel = { top = { { name = "cutlass_80_tensorop_s1688gemm_tf32_128x128", class = "matrix", share = 0.4 } } } },
      expect = { share = 0.4 } },
    { name = "near miss: full FP32", facts = { run = { kind = "solver" }, kernel = { top = { { name = "ampere_sgemm_128x64_nn", class = "matrix", share = 0.4 } } } }, expect = "silent" },
    { name = "near miss: a network's convolution",
      facts = { run = { kind = "solver" }, kernel = { top = { { name = "sm80_xmma_fprop_implicit_gemm_tf32f32_cudnn", class = "matrix", share = 0.4 } } } }, expect = "silent" },
    { name = "training", facts = { run = { kind = "training" }, kernel = { top = { { name = "s1688gemm_tf32", class = "matrix", share = 0.4 } } } }, expect = "not_applicable" },
    { name = "no kernels were recorded", facts = { run = { kind = "solver" } }, expect = "cannot_tell" },
  },
}
