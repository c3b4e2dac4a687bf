-- Few tokens of prompts were in the key-value cache already. Prompts without anything in common are the usual reason, and no
-- fault; a common text that stands behind one that changes is another.
return {
  id        = "inference/prefix-cache",
  title     = "Put what prompts have in common first, so that it is computed once",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "code",
  observed  = "measured",
  knowledge = { "K-N6" },

  needs      = { "server.lines" },
  optional   = { "server.prefix.hits", "server.prefix.on", "server.requests" },
  thresholds = { "max_hits", "min_lines", "min_requests" },

  symptom = "{what:text}",
  cause   = "The server computes what a prompt shares with an earlier one only where both begin alike. A date, a user's name or an order that changes in front of it makes all of it new.",
  fixes   = {
    { reason = "off", action = "Turn the cache of prefixes on", snippet = "vllm serve MODEL --enable-prefix-caching", language = "bash", ["for"] = { "vllm" } },
    { reason = "off", action = "Leave out the option that turns it off", snippet = "python -m sglang.launch_server --model-path MODEL        # without --disable-radix-cache",
      language = "bash", ["for"] = { "sglang" } },
    { action = "Begin prompts with the text that all of them share, and send requests of one conversation to the same server" },
  },
  false_positives = "Prompts that have nothing in common, and tests with random ones.",
  references = { "vllm/optimization", "sglang/tuning" },

  applies = function(f)
    if f.server.lines == 0 then return false, "no log of a model server was given" end
    return f.server.prefix.hits ~= nil or f.server.prefix.on == false, "the server's log does not say what was in the cache"
  end,

  detect = function(f, t)
    -- A page of metrics counts all since the start of the server; a log has lines for a time.
    local enough = f.server.requests and at_least(f.server.requests, t.min_requests)
    if not enough and not at_least(f.server.lines, t.min_lines) then return nil end
    if f.server.prefix.on == false then return { what = "The server keeps no prefixes of prompts.", reason = "off" } end
    if not at_most(f.server.prefix.hits, t.max_hits) then return nil end
    return { what = in_words(f.server.prefix.hits, "pct") .. " of the prompt tokens were in the key-value cache already." }
  end,

  tests = {
    { name = "hardly any", edges = { ["server.prefix.hits"] = 0.1, ["server.lines"] = 6 },
      facts = { server = { lines = 60, prefix = { hits = 0.02, on = true } } }, expect = { what = "2 % of the prompt tokens were in the key-value cache already." } },
    { name = "a page of metrics", edges = { ["server.requests"] = 50 },
      facts = { server = { lines = 1, requests = 500, prefix = { hits = 0.02, on = true } } }, expect = { what = "2 % of the prompt tokens were in the key-value cache already." } },
    { name = "turned off", facts = { server = { lines = 60, prefix = { on = false } } }, expect = { reason = "off" } },
    { name = "near miss: a common system text", facts = { server = { lines = 60, prefix = { hits = 0.4 } } }, expect = "silent" },
    { name = "the log does not say", facts = { server = { lines = 60 } }, expect = "not_applicable" },
    { name = "no log", facts = { server = { lines = 0 } }, expect = "not_applicable" },
  },
}
