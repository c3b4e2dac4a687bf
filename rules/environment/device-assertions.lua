-- Device-side assertions make kernels keep records of failures, with more registers and checks.
return {
  id        = "environment/device-assertions",
  title     = "Switch device-side assertions off",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  scope     = "run",
  effort    = "flag",
  knowledge = { "K-H12" },

  needs      = { "environment.recorded" },
  optional   = { "environment.device_assertions" },
  thresholds = {},

  symptom = "PYTORCH_USE_CUDA_DSA is {value:text}.",
  cause   = "A setting for finding illegal accesses was left on.",
  fixes   = {
    { action  = "Unset it for measurements",
      snippet = "unset PYTORCH_USE_CUDA_DSA",
      language = "bash" },
  },
  false_positives = "Debugging.",
  references = { "pytorch/cuda-semantics" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.device_assertions ~= nil, "the switch is not set"
  end,

  detect = function(f, t)
    local value = f.environment.device_assertions
    if value == "0" or value:lower() == "false" or value:lower() == "off" then return nil end
    return { value = value }
  end,

  tests = {
    { name = "on",
      facts = { environment = { recorded = true, device_assertions = "1" } },
      expect = { value = "1" } },
    { name = "near miss: off",
      facts = { environment = { recorded = true, device_assertions = "0" } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false } },
      expect = "not_applicable" },
  },
}
