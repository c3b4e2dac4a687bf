-- A server decodes without CUDA graphs: each step launches hundreds of small kernels one by one, and with small batches the GPU
-- waits for the host between them. A log says so, and a timeline shows it, and how long the GPU waits. Prompts between the
-- tokens vary the sequence of kernels, and engines pad batches to the sizes of their graphs: launch/graph-candidate asks for more.
local engines = { vLLM = true, SGLang = true }   -- those whose option is known

-- Whether a timeline shows a known engine that generates tokens and launches no graph.
local function launches_kernels(f)
  return engines[f.run.framework or ""] and f.run.decode and f.graph.launches == 0 and f.launch.nodes.lost ~= nil
end

return {
  id        = "inference/graphs-off",
  title     = "Let the server decode with CUDA graphs",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 66,
  effort    = "flag",
  explains  = { "launch/graph-candidate", "launch/bound", "launch/tiny-kernels", "host/cpu-bound", "inference/scheduler" },
  observed  = "recorded",
  own_steps = true,
  knowledge = { "K-H6" },

  needs      = { "server.lines" },
  optional   = { "server.eager", "server.without_graph", "run.framework", "run.decode", "graph.launches", "launch.nodes.lost", "launch.nodes.remedy",
                 "window.device_time" },
  thresholds = { "min_share", "min_lines", "min_waits" },

  symptom = "{what:text}",
  cause   = "Without a graph, the host launches each kernel of each step. Kernels of decoding are short, so the GPU waits for the next launch, above all with small batches and small models.",
  fixes   = {
    { reason = "off", action = "Leave out the option that turns graphs off", snippet = "vllm serve MODEL        # without --enforce-eager", language = "bash", ["for"] = { "vllm" } },
    { reason = "off", action = "Leave out the option that turns graphs off", snippet = "python -m sglang.launch_server --model-path MODEL        # without --disable-cuda-graph",
      language = "bash", ["for"] = { "sglang" } },
    { reason = "missed", action = "Capture graphs for batches as large as those that run", snippet = "python -m sglang.launch_server --model-path MODEL --cuda-graph-max-bs 256",
      language = "bash", ["for"] = { "sglang" } },
    { reason = "eager", action = "Leave out the option that turns graphs off", snippet = "vllm serve MODEL        # without --enforce-eager", language = "bash", ["for"] = { "vllm" } },
    { reason = "eager", action = "Leave out the option that turns graphs off", snippet = "python -m sglang.launch_server --model-path MODEL        # without --disable-cuda-graph",
      language = "bash", ["for"] = { "sglang" } },
    { reason = "off", action = "Record a timeline to see how long the GPU waits for launches" },
    { reason = "missed", action = "Record a timeline to see how long the GPU waits for launches" },
  },
  false_positives = "Graphs that were turned off to find an error, to start faster, or because memory did not suffice.",
  references = { "vllm/optimization", "sglang/tuning", "pytorch/cuda-graphs" },

  applies = function(f)
    if launches_kernels(f) then return true end
    if f.server.lines == 0 then return false, "no log of a model server was given, and no timeline of a known one without graphs" end
    return f.server.eager ~= nil or f.server.without_graph ~= nil, "the server's log does not say whether it uses CUDA graphs"
  end,

  detect = function(f, t)
    local waits = launches_kernels(f) and share(f.launch.nodes.lost.time, f.window.device_time) or 0
    if at_least(waits, t.min_waits) then
      return { reason = "eager", what = "The server launches each kernel of its tokens by itself, and the GPU waits for that " .. in_words(waits, "pct") .. " of the time." }
    end
    if not at_least(f.server.lines, t.min_lines) then return nil end
    if f.server.eager then return { what = "CUDA graphs are turned off in the server.", reason = "off" } end
    local without = f.server.without_graph
    if not without or not at_least(without, t.min_share) then return nil end
    return { what = "In " .. in_words(without, "pct") .. " of the lines about decoding, the server used no CUDA graph.", reason = "missed" }
  end,

  saving = function(f, t)
    if not launches_kernels(f) or not at_least(share(f.launch.nodes.lost.time, f.window.device_time), t.min_waits) then return nil end
    return { claims = f.launch.nodes.lost, remedy = f.launch.nodes.remedy, confidence = 0.7, basis = "one launch per step replaces the others" }
  end,

  tests = {
    { name = "a timeline of a server that launches each kernel",
      edges = { ["launch.nodes.lost"] = 3e7 },
      facts = { server = { lines = 0 }, run = { framework = "vLLM", decode = true }, graph = { launches = 0 }, window = { device_time = 1e9 },
                launch = { nodes = { lost = 1.1e8, remedy = true } } },
      expect = { reason = "eager", what = "The server launches each kernel of its tokens by itself, and the GPU waits for that 11 % of the time." },
      saving = { claims = 1.1e8, confidence = 0.7 } },
    { name = "near miss: the kernels are long enough",
      facts = { server = { lines = 0 }, run = { framework = "vLLM", decode = true }, graph = { launches = 0 }, window = { device_time = 1e9 },
                launch = { nodes = { lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: a timeline with graphs, whose prompts run without",
      facts = { server = { lines = 0 }, run = { framework = "vLLM", decode = true }, graph = { launches = 900 }, window = { device_time = 1e9 },
                launch = { nodes = { lost = 1.1e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "near miss: a program of one's own has no such option",
      facts = { server = { lines = 0 }, run = { decode = true }, graph = { launches = 0 }, window = { device_time = 1e9 },
                launch = { nodes = { lost = 1.1e8, remedy = true } } },
      expect = "not_applicable" },
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
