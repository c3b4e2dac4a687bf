-- NCCL writes its log during the run. INFO is cheap after start-up, TRACE and the subsystem logs are not; thousands of
-- ranks also write to one file system.
return {
  id        = "environment/nccl-debug",
  title     = "Lower NCCL's log level",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-J4" },

  needs      = { "environment.recorded" },
  optional   = { "environment.nccl_debug" },
  thresholds = {},

  symptom = "NCCL_DEBUG is {value:text}: each rank writes NCCL's messages to its output.",
  cause   = "A log level for debugging was left on.",
  fixes   = {
    { action  = "Log warnings only",
      snippet = "export NCCL_DEBUG=WARN",
      language = "bash" },
    { action  = "Write one log file per process",
      snippet = "export NCCL_DEBUG_FILE=/tmp/nccl.%h.%p.log",
      language = "bash" },
  },
  false_positives = "A capture that needs NCCL's log, for example to see the transport.",
  references = { "nccl/logging", "nccl/environment" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.nccl_debug ~= nil, "NCCL_DEBUG is not set"
  end,

  detect = function(f, t)
    local value = f.environment.nccl_debug
    local level = value:lower()
    if level ~= "info" and level ~= "trace" then return nil end
    return { value = value }
  end,

  tests = {
    { name = "a full log",
      facts = { environment = { recorded = true, nccl_debug = "INFO" } },
      expect = { value = "INFO" } },
    { name = "near miss: warnings only",
      facts = { environment = { recorded = true, nccl_debug = "WARN" } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false } },
      expect = "not_applicable" },
  },
}
