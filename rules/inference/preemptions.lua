-- The key-value cache ran full, so the server put requests back that had begun, and computes their tokens again later.
return {
  id        = "inference/preemptions",
  title     = "Give the key-value cache more room, or let fewer requests run at once",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  explains  = { "inference/cache-limits-batch" },
  priority  = 60,
  effort    = "flag",
  observed  = "recorded",
  knowledge = { "K-N3" },

  needs      = { "server.lines" },
  optional   = { "server.preempted.count", "server.preempted.rate" },
  thresholds = { "min_count", "min_rate" },

  symptom = "The server put requests back {count:count} times because its key-value cache was full{rate_text:text}.",
  cause   = "More requests were let in than the cache can hold to their end. The tokens of those that are put back are computed again, and their users wait.",
  fixes   = {
    { action = "Give the cache more memory", snippet = "vllm serve MODEL --gpu-memory-utilization 0.95", language = "bash", ["for"] = { "vllm" } },
    { action = "Store the cache in FP8, which holds twice as many tokens", snippet = "vllm serve MODEL --kv-cache-dtype fp8", language = "bash", ["for"] = { "vllm" } },
    { action = "Let fewer requests run at once", snippet = "vllm serve MODEL --max-num-seqs 64", language = "bash", ["for"] = { "vllm" } },
    { action = "Let the server take in new requests more carefully", snippet = "python -m sglang.launch_server --model-path MODEL --schedule-conservativeness 1.3",
      language = "bash", ["for"] = { "sglang" } },
    { action = "Give the cache more memory", snippet = "python -m sglang.launch_server --model-path MODEL --mem-fraction-static 0.9", language = "bash", ["for"] = { "sglang" } },
    { action = "Spread the model across more GPUs (tensor parallelism), which leaves more memory for the cache" },
  },
  false_positives = "A burst that is over, or a load that nobody expects again.",
  references = { "vllm/optimization", "sglang/tuning" },

  applies = function(f)
    if f.server.lines == 0 then return false, "no log of a model server was given" end
    return f.server.preempted.count ~= nil, "the server's log does not count them"
  end,

  detect = function(f, t)
    if not at_least(f.server.preempted.count, t.min_count) then return nil end
    local rate = f.server.preempted.rate
    if rate and not at_least(rate, t.min_rate) then return nil end
    return { count = f.server.preempted.count, rate_text = rate and ", " .. in_words(rate, "num") .. " times per minute" or "" }
  end,

  tests = {
    { name = "many", edges = { ["server.preempted.count"] = 3, ["server.preempted.rate"] = 1 },
      facts = { server = { lines = 60, preempted = { count = 140, rate = 14 } } }, expect = { count = 140, rate_text = ", 14 times per minute" } },
    { name = "near miss: one in ten minutes", facts = { server = { lines = 600, preempted = { count = 6, rate = 0.1 } } }, expect = "silent" },
    { name = "near miss: none", facts = { server = { lines = 60, preempted = { count = 0, rate = 0 } } }, expect = "silent" },
    { name = "the log does not count them", facts = { server = { lines = 60 } }, expect = "not_applicable" },
    { name = "no log", facts = { server = { lines = 0 } }, expect = "not_applicable" },
  },
}
