-- torch.compile calls are still in the program, but the environment turns them into nothing. What a compiler would win by
-- fusing element-wise kernels is measured; what it wins at launching is not claimed here.
return {
  id        = "environment/compile-off",
  title     = "Turn torch.compile back on",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  topic     = "switch",
  priority  = 60,
  explains  = { "kernel/unfused-elementwise" },
  knowledge = { "K-A1", "K-B3" },

  needs      = { "environment.recorded" },
  optional   = { "environment.compile_disable", "environment.dynamo_disable", "kernel.elementwise.lost",
                 "kernel.elementwise.remedy", "window.device_time" },
  thresholds = { "min_share" },

  symptom = "{name:text} is {value:text}: torch.compile has no effect{lost_text:text}.",
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
      if value ~= "" and value ~= "0" and value ~= "false" and value ~= "off" then
        local elementwise = f.kernel.elementwise
        local lost = elementwise.lost and f.window.device_time and share(elementwise.lost.time, f.window.device_time) or 0
        local fuses = at_least(lost, t.min_share)
        return { name = one.name, value = one.value, share = fuses and lost or 0,
                 lost_text = fuses and ". Runs of element-wise kernels, which it would fuse, take " .. in_words(lost, "pct") .. " of the time" or "" }
      end
    end
    return nil
  end,

  saving = function(f, _, e)
    if e.share == 0 then return nil end
    return { claims = f.kernel.elementwise.lost, remedy = f.kernel.elementwise.remedy, confidence = 0.6,
             basis = "each run of element-wise kernels becomes one kernel that reads and writes once" }
  end,

  tests = {
    { name = "off, with chains of element-wise kernels",
      edges = { ["kernel.elementwise.lost"] = 5e7 },
      facts = { environment = { recorded = true, compile_disable = "1" }, window = { device_time = 1e9 },
                kernel = { elementwise = { lost = 5.1e7, remedy = true } } },
      expect = { name = "TORCH_COMPILE_DISABLE", value = "1", share = 0.051 },
      saving = { claims = 5.1e7, confidence = 0.6 } },
    { name = "off, and little to fuse",
      facts = { environment = { recorded = true, compile_disable = "1" }, window = { device_time = 1e9 },
                kernel = { elementwise = { lost = 2e7, remedy = true } } },
      expect = { share = 0, lost_text = "" } },
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
