-- NVIDIA_TF32_OVERRIDE=0 keeps every library from using the tensor cores for FP32 data, whatever the program asks for.
return {
  id        = "environment/tf32-off",
  title     = "Unset NVIDIA_TF32_OVERRIDE to allow TF32 again",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  topic     = "switch",
  priority  = 88,
  explains  = { "precision/fp32-gemm", "precision/tensor-idle", "kernel/hot", "step/low-mfu" },
  knowledge = { "K-K13", "K-H1" },

  needs      = { "window.device_time", "precision.fp32.share", "precision.fp32.lost", "precision.fp32.remedy",
                 "environment.recorded" },
  optional   = { "environment.tf32_override", "run.kind" },
  thresholds = { "min_share" },

  symptom = "TF32 is turned off (NVIDIA_TF32_OVERRIDE={value:text}), and FP32 matrix kernels without tensor cores take {share:pct} of the time.",
  cause   = "A setting for comparing results was left on.",
  fixes   = {
    { action  = "Unset it",
      snippet = "unset NVIDIA_TF32_OVERRIDE",
      language = "bash" },
    { action = "If 10 bits of mantissa are too few for some products, keep FP32 for those alone, in the program" },
  },
  false_positives = "Programs that need the full FP32 mantissa.",
  references = { "pytorch/tf32" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    if f.run.kind == "solver" then return false, "the run is a solver, which may need all digits of FP32" end
    return f.environment.tf32_override ~= nil, "NVIDIA_TF32_OVERRIDE is not set"
  end,

  detect = function(f, t)
    if f.environment.tf32_override ~= "0" then return nil end
    local lost = share(f.precision.fp32.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    return { share = lost, value = f.environment.tf32_override }
  end,

  saving = { claims = "precision.fp32.lost", remedy = "precision.fp32.remedy", confidence = 0.7,
             basis = "matrix kernels run on the tensor cores" },

  tests = {
    { name = "a solver",
      facts = { environment = { recorded = true, tf32_override = "0" }, run = { kind = "solver" } },
      expect = "not_applicable" },
    { name = "off, with half of the time in FP32 products",
      edges = { ["precision.fp32.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 }, precision = { fp32 = { share = 0.5, lost = 5e8, remedy = true } }, environment = { recorded = true, tf32_override = "0" } },
      expect = { share = 0.5 },
      saving = { claims = 5e8 } },
    { name = "near miss: no FP32 products",
      facts = { window = { device_time = 1e9 }, precision = { fp32 = { share = 0.01, lost = 1e7, remedy = true } }, environment = { recorded = true, tf32_override = "0" } },
      expect = "silent" },
    { name = "near miss: forced on",
      facts = { window = { device_time = 1e9 }, precision = { fp32 = { share = 0.5, lost = 5e8, remedy = true } }, environment = { recorded = true, tf32_override = "1" } },
      expect = "silent" },
    { name = "NVIDIA_TF32_OVERRIDE is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "kernels were not recorded",
      facts = { environment = { recorded = true, tf32_override = "0" } },
      expect = "cannot_tell" },
  },
}
