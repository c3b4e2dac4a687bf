-- A server decodes without CUDA graphs: each step launches hundreds of small kernels one by one, and with small batches the GPU
-- waits for the host between them. Only a timeline shows how long.
return {
  id        = "inference/graphs-off",
  title     = "Let the server decode with CUDA graphs",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 45,
  effort    = "flag",
  observed  = "recorded",
  own_steps = true,
  knowledge = { "K-H6" },

  needs      = { "server.lines" },
  optional   = { "server.eager", "server.without_graph" },
  thresholds = { "min_share", "min_lines" },

  symptom = "{what:text}",
  cause   = "Without a graph, the host launches each kernel of each step. Kernels of decoding are short, so the GPU waits for the next launch, above all with small batches and small models.",
  fixes   = {
    { reason = "off", action = "Leave out the option that turns graphs off", snippet = "vllm serve MODEL        # without --enforce-eager", language = "bash", ["for"] = { "vllm" } },
    { reason = "off", action = "Leave out the option that turns graphs off", snippet = "python -m sglang.launch_server --model-path MODEL        # without --disable-cuda-graph",
      language = "bash", ["for"] = { "sglang" } },
    { reason = "missed", action = "Capture graphs for batches as large as those that run", snippet = "python -m sglang.launch_server --model-path MODEL --cuda-graph-max-bs 256",
      language = "bash", ["for"] = { "sglang" } },
    { action = "Record a timeline to see how long the GPU waits for launches" },
  },
  false_positives = "Graphs that were turned off to find an error, to start faster, or because memory did not suffice.",
  references = { "vllm/optimization", "sglang/tuning", "pytorch/cuda-graphs" },

  applies = function(f)
    if f.server.lines == 0 then return false, "no log of a model server was given" end
    return f.server.eager ~= nil or f.server.without_graph ~= nil, "the server's log does not say whether it uses CUDA graphs"
  end,

  detect = function(f, t)
    if not at_least(f.server.lines, t.min_lines) then return nil end
    if f.server.eager then return { what = "CUDA graphs are turned off in the server.", reason = "off" } end
    local without = f.server.without_graph
    if not without or not at_least(without, t.min_share) then return nil end
    return { what = "In " .. in_words(without, "pct") .. " of the lines about decoding, the server used no CUDA graph.", reason = "missed" }
  end,

  tests = {
    { name = "turned off", edges = { ["server.lines"] = 6 }, facts = { server = { lines = 60, eager = true } },
      expect = { reason = "off", what = "CUDA graphs are turned off in the server." } },
    { name = "batches larger than those captured", edges = { ["server.without_graph"] = 0.5 },
      facts = { server = { lines = 60, eager = false, without_graph = 0.9 } },
      expect = { reason = "missed", what = "In 90 % of the lines about decoding, the server used no CUDA graph." } },
    { name = "near miss: a large batch now and then", facts = { server = { lines = 60, eager = false, without_graph = 0.1 } }, expect = "silent" },
    { name = "near miss: graphs are on", facts = { server = { lines = 60, eager = false } }, expect = "silent" },
    { name = "the log does not say", facts = { server = { lines = 60 } }, expect = "not_applicable" },
    { name = "no log", facts = { server = { lines = 0 } }, expect = "not_applicable" },
  },
}
