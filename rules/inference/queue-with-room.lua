-- Requests wait although the key-value cache has room: the server runs as many at once as it may. Decoding is limited by memory
-- traffic, so a larger batch generates more tokens in the same time.
return {
  id        = "inference/queue-with-room",
  title     = "Let more requests run at once: they wait although there is room",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 55,
  effort    = "flag",
  observed  = "measured",
  own_steps = true,
  knowledge = { "K-K15", "K-E1" },

  needs      = { "server.lines" },
  optional   = { "server.held.by_limit", "server.limit.requests", "server.limit.set", "server.waiting.mean", "server.cache.used", "server.queue.mean", "server.requests", "server.preempted.count", "server.engines" },
  thresholds = { "min_share", "min_lines", "min_wait", "min_requests" },

  symptom = "{seen:text} although only {used:pct} of the key-value cache was in use. {limit_text:text}",
  cause   = "The limit on requests that run at once keeps the batch small. Each step reads all weights for few requests, so a larger batch generates more tokens per second.",
  fixes   = {
    { action = "Let more requests run at once", snippet = "vllm serve MODEL --max-num-seqs 512", language = "bash", ["for"] = { "vllm" } },
    { action = "Let more requests run at once, and capture graphs for batches of that size",
      snippet = "python -m sglang.launch_server --model-path MODEL --max-running-requests 512 --cuda-graph-max-bs 512", language = "bash", ["for"] = { "sglang" } },
    { action = "If each user must get tokens faster than that, add servers instead" },
  },
  false_positives = "A limit that was set so that each user gets tokens fast enough.",
  references = { "vllm/optimization", "sglang/tuning" },

  applies = function(f)
    if f.server.lines == 0 then return false, "neither a log nor the metrics of a model server was given" end
    return f.server.held.by_limit ~= nil, "the server's log does not say how full its cache is"
  end,

  detect = function(f, t)
    if not at_least(f.server.held.by_limit, t.min_share) then return nil end
    local waiting = math.max(1, math.floor((f.server.waiting.mean or 0) + 0.5))
    local log, seen = true, "In " .. in_words(f.server.held.by_limit, "pct") .. " of the lines of the server's log, requests waited (" .. in_words(waiting, "count") .. " on average)"
    if not at_least(f.server.lines, t.min_lines) then
      -- A page of metrics is one look, and its sums are of all requests. Where the cache was never full, it held none of them.
      local queue, requests = f.server.queue.mean, f.server.requests
      if not queue or not requests or (f.server.preempted.count or 0) > 0 then return nil end
      if not at_least(queue, t.min_wait) or not at_least(requests, t.min_requests) then return nil end
      log, seen = false, "Requests spent " .. in_words(queue, "time") .. " in the queue (mean over " .. in_words(requests, "count") .. "),"
    end
    local limit = in_words(f.server.limit.requests or 0, "count")
    return { seen = seen, share = f.server.held.by_limit, used = f.server.cache.used or 0, waiting = math.max(1, math.floor((f.server.waiting.mean or 0) + 0.5)),
             limit_text = f.server.limit.set and "At most " .. limit .. " requests may run at once." or
                          not log and "When the metrics were read, " .. limit .. " requests ran at once." or
                          "Never more than " .. limit .. " requests ran at once" .. ((f.server.engines or 1) > 1 and " in an engine." or ".") }
  end,

  tests = {
    { name = "256 run, 240 wait, and a third of the cache is free", edges = { ["server.held.by_limit"] = 0.2, ["server.lines"] = 6 },
      facts = { server = { lines = 60, held = { by_limit = 0.8 }, waiting = { mean = 240 }, cache = { used = 0.65 }, limit = { requests = 256, set = false } } },
      expect = { share = 0.8, waiting = 240, used = 0.65, limit_text = "Never more than 256 requests ran at once." } },
    { name = "two engines",
      facts = { server = { lines = 60, engines = 2, held = { by_limit = 0.8 }, waiting = { mean = 240 }, cache = { used = 0.65 }, limit = { requests = 256, set = false } } },
      expect = { limit_text = "Never more than 256 requests ran at once in an engine." } },
    { name = "the log says the limit",
      facts = { server = { lines = 60, held = { by_limit = 0.8 }, waiting = { mean = 3 }, cache = { used = 0.2 }, limit = { requests = 16, set = true } } },
      expect = { limit_text = "At most 16 requests may run at once." } },
    { name = "a page of metrics: requests wait for six seconds",
      edges = { ["server.queue.mean"] = 1e8, ["server.requests"] = 20 },
      facts = { server = { lines = 1, requests = 20000, queue = { mean = 6e9 }, held = { by_limit = 1 }, waiting = { mean = 200 }, cache = { used = 0.1 },
                           preempted = { count = 0 }, limit = { requests = 8, set = false } } },
      expect = { limit_text = "When the metrics were read, 8 requests ran at once.", seen = "Requests spent 6.00 s in the queue (mean over 20,000),", waiting = 200 } },
    { name = "near miss: a page of a server that ran out of cache before",
      facts = { server = { lines = 1, requests = 20000, queue = { mean = 6e9 }, held = { by_limit = 1 }, waiting = { mean = 200 }, cache = { used = 0.1 },
                           preempted = { count = 40 }, limit = { requests = 8, set = false } } }, expect = "silent" },
    { name = "near miss: a page without times", facts = { server = { lines = 1, held = { by_limit = 1 } } }, expect = "silent" },
    { name = "near miss: a burst waits", facts = { server = { lines = 60, held = { by_limit = 0.05 } } }, expect = "silent" },
    { name = "the log does not say how full it is", facts = { server = { lines = 60 } }, expect = "not_applicable" },
    { name = "no log", facts = { server = { lines = 0 } }, expect = "not_applicable" },
  },
}
