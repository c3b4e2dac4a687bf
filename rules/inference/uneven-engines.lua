-- One engine of a server holds far more requests than another: its batch is large and its requests wait, while the GPUs of
-- the other one read all weights for few. A router that counts requests, or that keeps users with an engine, does this.
return {
  id        = "inference/uneven-engines",
  title     = "Route requests by how many each engine has",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 57,
  explains  = { "inference/queue-with-room" },
  effort    = "flag",
  observed  = "measured",
  own_steps = true,
  knowledge = { "K-K15", "K-C1" },

  needs      = { "server.lines", "server.engines" },
  optional   = { "server.fullest.engine", "server.fullest.requests", "server.fullest.waiting", "server.emptiest.engine", "server.emptiest.requests" },
  thresholds = { "min_lines", "min_ratio", "min_more" },

  symptom = "Engine {engine:count} had {most:num} requests on average{waiting_text:text}. Engine {other:count} had {least:num}.",
  cause   = "What routes the requests does not look at how many each engine has. Users of the full engine wait while the GPUs of the other one read all weights for a few requests.",
  fixes   = {
    { action = "Let vLLM balance its engines: start them as one server, which sends each request to the engine with the shortest queue",
      snippet = "vllm serve MODEL --data-parallel-size 2", language = "bash", ["for"] = { "vllm" } },
    { action = "Let the router choose the engine with the fewest requests, and not the next one in turn" },
    { action = "If the router keeps users with the engine that has their prefix in its cache, limit how far ahead one engine may get" },
  },
  false_positives = "Engines of different models, or of GPUs of different speed.",
  references = { "vllm/optimization" },

  applies = function(f)
    if f.server.lines == 0 then return false, "neither a log nor the metrics of a model server was given" end
    return f.server.engines > 1 and f.server.emptiest.requests ~= nil, "the server's log is of one engine"
  end,

  detect = function(f, t)
    local most, least = f.server.fullest.requests, f.server.emptiest.requests
    if not at_least(f.server.lines, t.min_lines) or not at_least(most - least, t.min_more) then return nil end
    if not at_least(most, t.min_ratio * least) then return nil end
    local waiting = f.server.fullest.waiting or 0
    return { engine = f.server.fullest.engine, other = f.server.emptiest.engine, most = most, least = least, waiting = waiting,
             waiting_text = math.floor(waiting) > 0 and ", " .. in_words(waiting, "num") .. " of them waiting" or "" }
  end,

  tests = {
    { name = "sixty requests beside four",
      edges = { ["server.lines"] = 12, ["server.emptiest.requests"] = 30 },
      facts = { server = { lines = 60, engines = 2, fullest = { engine = 0, requests = 60, waiting = 10 }, emptiest = { engine = 1, requests = 4 } } },
      expect = { engine = 0, other = 1, most = 60, least = 4, waiting = 10, waiting_text = ", 10 of them waiting" } },
    { name = "all requests wait at one engine",
      edges = { ["server.fullest.requests"] = 8 },
      facts = { server = { lines = 60, engines = 2, fullest = { engine = 3, requests = 376, waiting = 120 }, emptiest = { engine = 1, requests = 0 } } },
      expect = { engine = 3, waiting = 120 } },
    { name = "near miss: a third more",
      facts = { server = { lines = 60, engines = 2, fullest = { engine = 0, requests = 60, waiting = 0 }, emptiest = { engine = 1, requests = 45 } } }, expect = "silent" },
    { name = "near miss: hardly any requests",
      facts = { server = { lines = 60, engines = 2, fullest = { engine = 0, requests = 3, waiting = 0 }, emptiest = { engine = 1, requests = 0.5 } } }, expect = "silent" },
    { name = "one engine", facts = { server = { lines = 60, engines = 1 } }, expect = "not_applicable" },
    { name = "no log", facts = { server = { lines = 0, engines = 1 } }, expect = "not_applicable" },
  },
}
