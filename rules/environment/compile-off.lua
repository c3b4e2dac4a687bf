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
  optional   = { "environment.compile_disable", "environment.dynamo_disable" },
  thresholds = {},

  symptom = "{name:text} is {value:text}: torch.compile has no effect.",
  cause   = "The compiler was turned off, probably for debugging.",
  fixes   = {
    { action  = "Unset the variable",
      snippet = "unset TORCH_COMPILE_DISABLE TORCHDYNAMO_DISABLE",
      language = "bash", ["for"] = { "pytorch" } },
  },
  false_positives = "A comparison with eager mode.",
  references = { "pytorch/compile" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.compile_disable ~= nil or f.environment.dynamo_disable ~= nil, "no variable turns torch.compile off"
  end,

  detect = function(f, t)
    for _, one in ipairs({ { name = "TORCH_COMPILE_DISABLE", value = f.environment.compile_disable },
                           { name = "TORCHDYNAMO_DISABLE", value = f.environment.dynamo_disable } }) do
      local value = one.value and one.value:lower() or ""
      if value ~= "" and value ~= "0" and value ~= "false" and value ~= "off" then return { name = one.name, value = one.value } end
    end
    return nil
  end,

  tests = {
    { name = "off",
      facts = { environment = { recorded = true, compile_disable = "1" } },
      expect = { name = "TORCH_COMPILE_DISABLE", value = "1" } },
    { name = "off by the older name",
      facts = { environment = { recorded = true, dynamo_disable = "1" } },
      expect = { name = "TORCHDYNAMO_DISABLE", value = "1" } },
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
