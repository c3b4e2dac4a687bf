-- NCCL allows the protocol LL128 only where 128 bytes are stored at once. Whoever names it in NCCL_PROTO skips that check.
return {
  id        = "environment/nccl-ll128",
  title     = "Do not ask for NCCL's protocol LL128 by hand",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  topic     = "switch",
  priority  = 60,
  explains  = { "environment/nccl-forced" },
  effort    = "flag",
  risk      = "wrong-results",
  knowledge = { "K-J4" },

  needs      = { "environment.recorded" },
  optional   = { "environment.nccl_protocol" },
  thresholds = {},

  symptom = "NCCL_PROTO is {value:text}, which allows LL128 whether or not the system supports it.",
  cause   = "LL128 needs stores of 128 bytes that arrive as a whole. NCCL checks that, but not where the variable names the protocol. On other paths, data may arrive damaged, and no error is reported.",
  fixes   = {
    { action = "Unset it: NCCL uses LL128 where it is safe", snippet = "unset NCCL_PROTO", language = "bash" },
    { action = "To avoid a protocol, exclude it instead of naming the others", snippet = "export NCCL_PROTO=^LL", language = "bash" },
  },
  false_positives = "Systems with NVLink throughout, for which NCCL would choose LL128 by itself.",
  references = { "nccl/environment" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.nccl_protocol ~= nil, "NCCL_PROTO is not set"
  end,

  detect = function(f, t)
    local value = f.environment.nccl_protocol
    if starts_with(value, "^") or not contains(value:lower(), "ll128") then return nil end
    return { value = value }
  end,

  tests = {
    { name = "LL128 alone", facts = { environment = { recorded = true, nccl_protocol = "LL128" } }, expect = { value = "LL128" } },
    { name = "one of two, in lower case", facts = { environment = { recorded = true, nccl_protocol = "ll128,simple" } }, expect = { value = "ll128,simple" } },
    { name = "near miss: it is excluded", facts = { environment = { recorded = true, nccl_protocol = "^LL128" } }, expect = "silent" },
    { name = "near miss: another protocol", facts = { environment = { recorded = true, nccl_protocol = "Simple" } }, expect = "silent" },
    { name = "it is not set", facts = { environment = { recorded = true } }, expect = "not_applicable" },
  },
}
