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
  optional   = { "environment.nccl_algorithm", "environment.nccl_protocol" },
  thresholds = {},

  symptom = "{value:text}: NCCL uses nothing else, whatever the size of the message.",
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
    return f.environment.nccl_algorithm ~= nil or f.environment.nccl_protocol ~= nil, "neither NCCL_ALGO nor NCCL_PROTO is set"
  end,

  detect = function(f, t)
    local said = {}
    for _, one in ipairs({ { name = "NCCL_ALGO", value = f.environment.nccl_algorithm },
                           { name = "NCCL_PROTO", value = f.environment.nccl_protocol } }) do
      -- What is only excluded (^LL128) leaves the choice to NCCL.
      if one.value and one.value ~= "" and not starts_with(one.value, "^") then table.insert(said, one.name .. " is " .. one.value) end
    end
    if #said == 0 then return nil end
    return { value = table.concat(said, " and ") }
  end,

  tests = {
    { name = "held to rings",
      facts = { environment = { recorded = true, nccl_algorithm = "Ring" } },
      expect = { value = "NCCL_ALGO is Ring" } },
    { name = "held to one protocol",
      facts = { environment = { recorded = true, nccl_protocol = "Simple" } },
      expect = { value = "NCCL_PROTO is Simple" } },
    { name = "held to both",
      facts = { environment = { recorded = true, nccl_algorithm = "Tree", nccl_protocol = "LL" } },
      expect = { value = "NCCL_ALGO is Tree and NCCL_PROTO is LL" } },
    { name = "near miss: empty",
      facts = { environment = { recorded = true, nccl_algorithm = "" } },
      expect = "silent" },
    { name = "near miss: one protocol is excluded",
      facts = { environment = { recorded = true, nccl_protocol = "^LL128" } },
      expect = "silent" },
    { name = "neither is set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false } },
      expect = "not_applicable" },
  },
}
