-- With DETAIL, PyTorch wraps every process group: before each collective all ranks compare what they are about to do,
-- through another collective.
return {
  id        = "environment/distributed-debug",
  title     = "Switch the checks of collectives off",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  scope     = "run",
  effort    = "flag",
  knowledge = { "K-C2" },

  needs      = { "environment.recorded" },
  optional   = { "environment.distributed_debug" },
  thresholds = {},

  symptom = "TORCH_DISTRIBUTED_DEBUG is {value:text}.",
  cause   = "A setting for finding hangs was left on.",
  fixes   = {
    { action  = "Unset it for measurements",
      snippet = "unset TORCH_DISTRIBUTED_DEBUG",
      language = "bash" },
  },
  false_positives = "The search for a hang.",
  references = { "pytorch/ddp" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.distributed_debug ~= nil, "the switch is not set"
  end,

  detect = function(f, t)
    local value = f.environment.distributed_debug
    if value:upper() ~= "DETAIL" then return nil end
    return { value = value }
  end,

  tests = {
    { name = "detailed checks",
      facts = { environment = { recorded = true, distributed_debug = "DETAIL" } },
      expect = { value = "DETAIL" } },
    { name = "near miss: off",
      facts = { environment = { recorded = true, distributed_debug = "OFF" } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false } },
      expect = "not_applicable" },
  },
}
