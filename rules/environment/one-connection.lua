-- With one connection all streams of a process share a hardware queue, in the order of the launches: work of independent
-- streams waits for each other. Tensor-parallel overlap in Megatron wants this order; fully sharded data parallelism
-- does not.
return {
  id        = "environment/one-connection",
  title     = "Unset CUDA_DEVICE_MAX_CONNECTIONS to give streams more than one hardware queue",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-K10", "K-L5" },

  needs      = { "environment.recorded", "kernel.streams" },
  optional   = { "environment.max_connections" },
  thresholds = { "min_streams" },

  symptom = "CUDA_DEVICE_MAX_CONNECTIONS is {value:text}, and {streams:count} streams are in use.",
  cause   = "All streams of the process share one hardware queue, so independent streams wait for each other. The setting often comes from a recipe for another kind of parallelism.",
  fixes   = {
    { action  = "Unset it (the default is 8), and compare",
      snippet = "unset CUDA_DEVICE_MAX_CONNECTIONS",
      language = "bash" },
  },
  false_positives = "Megatron-style tensor and sequence parallelism with overlapped collectives.",
  references = { "megatron/fsdp-guide", "cuda-programming/streams" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.max_connections ~= nil, "CUDA_DEVICE_MAX_CONNECTIONS is not set"
  end,

  detect = function(f, t)
    if f.environment.max_connections ~= "1" then return nil end
    if not at_least(f.kernel.streams, t.min_streams) then return nil end
    return { value = f.environment.max_connections, streams = f.kernel.streams }
  end,

  tests = {
    { name = "one queue for four streams",
      edges = { ["kernel.streams"] = 2 },
      facts = { environment = { recorded = true, max_connections = "1" }, kernel = { streams = 4 } },
      expect = { value = "1" } },
    { name = "near miss: the default",
      facts = { environment = { recorded = true, max_connections = "8" }, kernel = { streams = 4 } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true }, kernel = { streams = 4 } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false }, kernel = { streams = 4 } },
      expect = "not_applicable" },
    { name = "near miss: one stream",
      facts = { environment = { recorded = true, max_connections = "1" }, kernel = { streams = 1 } },
      expect = "silent" },
  },
}
