-- Requests wait because the key-value cache has no room for them: memory limits how many run at once, and so the throughput.
return {
  id        = "inference/cache-limits-batch",
  title     = "Make room in the key-value cache for the requests that wait",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 50,
  effort    = "flag",
  observed  = "measured",
  knowledge = { "K-N3", "K-K15" },

  needs      = { "server.lines" },
  optional   = { "server.held.by_cache", "server.waiting.mean", "server.running.mean", "server.cache.used" },
  thresholds = { "min_share", "min_lines" },

  symptom = "In {share:pct} of the lines of the server's log, requests waited while the key-value cache had no room for one more ({used:pct} in use on average). {running:count} requests ran at once, and {waiting:count} waited.",
  cause   = "Each request keeps the keys and values of all its tokens in GPU memory. When there is no room, new ones wait, and the GPU works on fewer requests at a time than it could.",
  fixes   = {
    { action = "Give the cache more memory", snippet = "vllm serve MODEL --gpu-memory-utilization 0.95", language = "bash", ["for"] = { "vllm" } },
    { action = "Store the cache in FP8, which holds twice as many tokens", snippet = "vllm serve MODEL --kv-cache-dtype fp8", language = "bash", ["for"] = { "vllm" } },
    { action = "Give the cache more memory", snippet = "python -m sglang.launch_server --model-path MODEL --mem-fraction-static 0.9", language = "bash", ["for"] = { "sglang" } },
    { action = "Store the cache in FP8, which holds twice as many tokens", snippet = "python -m sglang.launch_server --model-path MODEL --kv-cache-dtype fp8_e4m3",
      language = "bash", ["for"] = { "sglang" } },
    { action = "Use quantized weights, or spread the model across more GPUs (tensor parallelism): both leave more memory for the cache" },
    { action = "If requests never become as long as is allowed, limit their length" },
  },
  false_positives = "A test that sends all requests at once, to measure the highest throughput.",
  references = { "vllm/optimization", "sglang/tuning" },

  applies = function(f)
    if f.server.lines == 0 then return false, "no log of a model server was given" end
    return f.server.held.by_cache ~= nil, "the server's log does not say how full its cache is"
  end,

  detect = function(f, t)
    if not at_least(f.server.lines, t.min_lines) then return nil end
    if not at_least(f.server.held.by_cache, t.min_share) then return nil end
    return { share = f.server.held.by_cache, used = f.server.cache.used or 1, running = math.floor((f.server.running.mean or 0) + 0.5),
             waiting = math.max(1, math.floor((f.server.waiting.mean or 0) + 0.5)) }
  end,

  tests = {
    { name = "full half of the time", edges = { ["server.held.by_cache"] = 0.2, ["server.lines"] = 6 },
      facts = { server = { lines = 60, held = { by_cache = 0.5 }, waiting = { mean = 240.4 }, running = { mean = 180 }, cache = { used = 0.93 } } },
      expect = { share = 0.5, waiting = 240, running = 180, used = 0.93 } },
    { name = "near miss: full now and then", facts = { server = { lines = 60, held = { by_cache = 0.05 }, waiting = { mean = 2 } } }, expect = "silent" },
    { name = "the log does not say how full it is", facts = { server = { lines = 60 } }, expect = "not_applicable" },
    { name = "no log", facts = { server = { lines = 0 } }, expect = "not_applicable" },
  },
}
