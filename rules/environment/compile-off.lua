-- torch.compile calls are still in the program, but the environment turns them into nothing.
return {
  id        = "environment/compile-off",
  title     = "Turn torch.compile back on",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-A1", "K-B3" },

  needs      = { "environment.recorded" },
  optional   = { "environment.compile_disable" },
  thresholds = {},

  symptom = "TORCH_COMPILE_DISABLE is {value:text}: torch.compile has no effect.",
  cause   = "The compiler was turned off, probably for debugging.",
  fixes   = {
    { action  = "Unset the variable",
      snippet = "unset TORCH_COMPILE_DISABLE",
      language = "bash", ["for"] = { "pytorch" } },
  },
  false_positives = "A comparison with eager mode.",
  references = { "pytorch/compile" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.compile_disable ~= nil, "TORCH_COMPILE_DISABLE is not set"
  end,

  detect = function(f, t)
    local value = f.environment.compile_disable
    if value == "0" or value:lower() == "false" or value:lower() == "off" then return nil end
    return { value = value }
  end,

  tests = {
    { name = "off",
      facts = { environment = { recorded = true, compile_disable = "1" } },
      expect = { value = "1" } },
    { name = "near miss: on",
      facts = { environment = { recorded = true, compile_disable = "0" } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false } },
      expect = "not_applicable" },
  },
}
