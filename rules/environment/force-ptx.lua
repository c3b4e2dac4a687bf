-- With this switch the driver ignores the binary code in the program and compiles its PTX instead.
return {
  id        = "environment/force-ptx",
  title     = "Unset CUDA_FORCE_PTX_JIT",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-A2", "K-C7" },

  needs      = { "environment.recorded" },
  optional   = { "environment.force_ptx" },
  thresholds = {},

  symptom = "CUDA_FORCE_PTX_JIT is {value:text}: the driver ignores the compiled GPU code and compiles PTX at each start.",
  cause   = "A test of whether the program runs on future GPUs was left on.",
  fixes   = {
    { action  = "Unset it",
      snippet = "unset CUDA_FORCE_PTX_JIT",
      language = "bash" },
  },
  false_positives = "Testing whether a program runs on newer GPUs.",
  references = { "cuda-programming/lazy-loading" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.force_ptx ~= nil, "CUDA_FORCE_PTX_JIT is not set"
  end,

  detect = function(f, t)
    local value = f.environment.force_ptx
    if value == "0" or value:lower() == "false" or value:lower() == "off" then return nil end
    return { value = value }
  end,

  tests = {
    { name = "on",
      facts = { environment = { recorded = true, force_ptx = "1" } },
      expect = { value = "1" } },
    { name = "near miss: off",
      facts = { environment = { recorded = true, force_ptx = "0" } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false } },
      expect = "not_applicable" },
  },
}
