-- Most of the time to the first token is the wait in the queue, not the work on the prompt. What holds the queue is another question.
return {
  id        = "inference/queue-delays-first-token",
  title     = "Shorten the queue: most of the time to the first token is waiting",
  status    = "experimental",
  since     = "0.2",
  kind      = "symptom",
  priority  = 40,
  effort    = "flag",
  observed  = "measured",
  knowledge = { "K-N3", "K-K15" },

  needs      = { "server.lines" },
  optional   = { "server.queue.mean", "server.first_token.mean", "server.requests" },
  thresholds = { "min_share", "min_wait", "min_requests" },

  symptom = "Of {first:time} until the first token, requests spent {queue:time} in the queue ({share:pct}, means over {count:count} requests).",
  cause   = "A request in the queue costs the GPU nothing, and its user waits. The server has more requests than it lets run, or than its cache has room for.",
  fixes   = {
    { action = "Log the server's lines about its requests, and give them together with this page: they show whether the limit on requests or the cache holds the queue" },
    { action = "Let more requests run at once, if the cache has room", snippet = "vllm serve MODEL --max-num-seqs 512", language = "bash", ["for"] = { "vllm" } },
    { action = "Let more requests run at once, if the cache has room", snippet = "python -m sglang.launch_server --model-path MODEL --max-running-requests 512", language = "bash", ["for"] = { "sglang" } },
    { action = "Add servers, or refuse requests that would wait too long" },
  },
  false_positives = "A test that sends all requests at once, to measure the highest throughput.",
  references = { "vllm/optimization", "sglang/tuning" },

  applies = function(f) return f.server.queue.mean ~= nil and f.server.first_token.mean ~= nil, "no page of a model server's metrics was given" end,

  detect = function(f, t)
    local queue, first = f.server.queue.mean, f.server.first_token.mean
    local count = f.server.requests or 0
    if first <= 0 or not at_least(count, t.min_requests) then return nil end
    if not at_least(queue, t.min_wait) or not at_least(queue / first, t.min_share) then return nil end
    return { queue = queue, first = first, share = math.min(1, queue / first), count = count }
  end,

  tests = {
    { name = "four of five seconds", edges = { ["server.queue.mean"] = 2.5e9, ["server.requests"] = 20 },
      facts = { server = { lines = 1, requests = 500, queue = { mean = 4e9 }, first_token = { mean = 5e9 } } },
      expect = { share = 0.8, count = 500 } },
    { name = "short prompts, whose wait is noticed", edges = { ["server.queue.mean"] = 1e8 },
      facts = { server = { lines = 1, requests = 500, queue = { mean = 1.4e8 }, first_token = { mean = 1.5e8 } } }, expect = { count = 500 } },
    { name = "near miss: the prompt takes most of it", facts = { server = { lines = 1, requests = 500, queue = { mean = 2e8 }, first_token = { mean = 5e9 } } }, expect = "silent" },
    { name = "near miss: a wait that nobody notices", facts = { server = { lines = 1, requests = 500, queue = { mean = 2e7 }, first_token = { mean = 3e7 } } }, expect = "silent" },
    { name = "near miss: three requests", facts = { server = { lines = 1, requests = 3, queue = { mean = 4e9 }, first_token = { mean = 5e9 } } }, expect = "silent" },
    { name = "no page", facts = { server = { lines = 60, queue = {}, first_token = {} } }, expect = "not_applicable" },
  },
}
