-- NCCL chooses by size and topology; a fixed choice is right for some messages and wrong for others, and stays when the
-- cluster changes.
return {
  id        = "environment/nccl-forced",
  title     = "Let NCCL choose its algorithm and protocol",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-J4" },

  needs      = { "environment.recorded" },
  optional   = { "environment.nccl_algorithm" },
  thresholds = {},

  symptom = "NCCL_ALGO is {value:text}: NCCL uses it whatever the size of the message.",
  cause   = "A fixed choice was left over from a benchmark or from debugging. It suits some message sizes and slows down others.",
  fixes   = {
    { action  = "Unset it, and compare",
      snippet = "unset NCCL_ALGO NCCL_PROTO",
      language = "bash" },
  },
  false_positives = "A choice that was measured on this cluster with these messages.",
  references = { "nccl/environment" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.nccl_algorithm ~= nil, "NCCL_ALGO is not set"
  end,

  detect = function(f, t)
    local value = f.environment.nccl_algorithm
    if value == "" then return nil end
    return { value = value }
  end,

  tests = {
    { name = "held to rings",
      facts = { environment = { recorded = true, nccl_algorithm = "Ring" } },
      expect = { value = "Ring" } },
    { name = "near miss: empty",
      facts = { environment = { recorded = true, nccl_algorithm = "" } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false } },
      expect = "not_applicable" },
  },
}
