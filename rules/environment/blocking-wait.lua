-- With blocking waits, wait() of a collective holds the host until it has ended, instead of making the stream wait.
return {
  id        = "environment/blocking-wait",
  title     = "Unset TORCH_NCCL_BLOCKING_WAIT",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-H12", "K-K10" },

  needs      = { "environment.recorded" },
  optional   = { "environment.blocking_wait" },
  thresholds = {},

  symptom = "TORCH_NCCL_BLOCKING_WAIT is {value:text}: the host blocks in each collective until it ends.",
  cause   = "The variable was set so that errors and timeouts are raised at the call that caused them.",
  fixes   = {
    { action  = "Unset it; PyTorch handles NCCL errors asynchronously by default",
      snippet = "unset TORCH_NCCL_BLOCKING_WAIT",
      language = "bash", ["for"] = { "pytorch" } },
  },
  false_positives = "Debugging a timeout.",
  references = { "nccl/environment" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.blocking_wait ~= nil, "TORCH_NCCL_BLOCKING_WAIT is not set"
  end,

  detect = function(f, t)
    local value = f.environment.blocking_wait
    if value == "0" or value:lower() == "false" or value:lower() == "off" then return nil end
    return { value = value }
  end,

  tests = {
    { name = "blocking",
      facts = { environment = { recorded = true, blocking_wait = "1" } },
      expect = { value = "1" } },
    { name = "near miss: not blocking",
      facts = { environment = { recorded = true, blocking_wait = "0" } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false } },
      expect = "not_applicable" },
  },
}
