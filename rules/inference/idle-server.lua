-- A server without requests is no fault: its log tells how much of it is used.
return {
  id        = "inference/idle-server",
  title     = "Send the server the load that you expect before you judge it",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "design",
  observed  = "measured",
  knowledge = { "K-N6" },

  needs      = { "server.lines" },
  optional   = { "server.load", "server.seconds" },
  thresholds = { "max_load", "min_seconds" },

  symptom = "According to its log, the server had requests for {load:pct} of {length:time}.",
  cause   = "Nobody asked in the rest of the time.",
  fixes   = {
    { action = "Send it that load, and read its log again" },
    { action = "If this is the usual load, serve several models on the GPU, or use a smaller GPU" },
  },
  false_positives = "A log of the time before and after a test.",
  references = { "vllm/optimization", "sglang/tuning" },

  applies = function(f)
    if f.server.lines == 0 then return false, "no log of a model server was given" end
    return f.server.load ~= nil, "the server's log has no times"
  end,

  detect = function(f, t)
    if not at_least(f.server.seconds, t.min_seconds) or not at_most(f.server.load, t.max_load) then return nil end
    return { load = f.server.load, length = f.server.seconds * 1e9 }
  end,

  tests = {
    { name = "a third of ten minutes", edges = { ["server.load"] = 0.8, ["server.seconds"] = 60 },
      facts = { server = { lines = 20, load = 0.33, seconds = 600 } }, expect = { load = 0.33, length = 6e11 } },
    { name = "near miss: always something to do", facts = { server = { lines = 60, load = 0.97, seconds = 600 } }, expect = "silent" },
    { name = "no times", facts = { server = { lines = 60 } }, expect = "not_applicable" },
    { name = "no log", facts = { server = { lines = 0 } }, expect = "not_applicable" },
  },
}
