-- With DETAIL, PyTorch wraps every process group: before each collective all ranks meet at a barrier and compare what they are about
-- to do. Its documentation says that this may slow the application down and is for debugging only, and names no figure, so nothing
-- is claimed here (what ranks lose by waiting, rules of comm/ and rank/ measure). INFO only logs when models are wrapped: no finding.
return {
  id        = "environment/distributed-debug",
  title     = "Unset TORCH_DISTRIBUTED_DEBUG",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-C2" },

  needs      = { "environment.recorded" },
  optional   = { "environment.distributed_debug" },
  thresholds = {},

  symptom = "TORCH_DISTRIBUTED_DEBUG is {value:text}: before each collective, all ranks meet and compare what they are about to do.",
  cause   = "A setting for finding hangs was left on.",
  fixes   = {
    { action  = "Unset it",
      snippet = "unset TORCH_DISTRIBUTED_DEBUG",
      language = "bash", ["for"] = { "pytorch" } },
  },
  false_positives = "The search for a hang.",
  references = { "pytorch/distributed-debug" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.distributed_debug ~= nil, "TORCH_DISTRIBUTED_DEBUG is not set"
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
    { name = "near miss: INFO logs at the start only",
      facts = { environment = { recorded = true, distributed_debug = "INFO" } },
      expect = "silent" },
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
