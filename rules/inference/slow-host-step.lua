-- The server's log gives both parts of a step: the host's takes longer than the GPU's, so the GPU waits for it in each step.
return {
  id        = "inference/slow-host-step",
  title     = "Let the host prepare the next step while the GPU computes",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 55,
  effort    = "flag",
  observed  = "measured",
  own_steps = true,
  knowledge = { "K-N3" },

  needs      = { "server.lines" },
  optional   = { "server.step.host", "server.step.gpu" },
  thresholds = { "min_share", "min_lines" },

  symptom = "A step of the server takes {host:time} on the host, and the GPU computes for {gpu:time} of that (medians): it waits for {share:pct} of the step.",
  cause   = "Scheduling, sampling and answers are the host's part of a step. Where they do not overlap with the GPU's part, they limit the tokens per second.",
  fixes   = {
    { action = "Turn the overlapping scheduler on, and replay CUDA graphs",
      snippet = "printf 'disable_overlap_scheduler: false\\ncuda_graph_config:\\n  enable_padding: true\\n' > options.yaml\ntrtllm-serve MODEL --extra_llm_api_options options.yaml",
      language = "bash", ["for"] = { "tensorrt-llm" } },
    { action = "Turn tokens into text in other processes",
      snippet = "echo 'num_postprocess_workers: 4' >> options.yaml\ntrtllm-serve MODEL --extra_llm_api_options options.yaml", language = "bash", ["for"] = { "tensorrt-llm" } },
    { action = "Record the server with nsys: the ranges of its steps show what the host does" },
  },
  false_positives = "A server with one request at a time, whose steps are short.",
  references = { "tensorrt-llm/performance" },

  applies = function(f) return f.server.step.host ~= nil and f.server.step.gpu ~= nil, "no log of a model server tells how long its steps take" end,

  detect = function(f, t)
    if not at_least(f.server.lines, t.min_lines) then return nil end
    local host, gpu = f.server.step.host, f.server.step.gpu
    if host <= 0 or not at_least(1 - gpu / host, t.min_share) then return nil end
    return { host = host, gpu = gpu, share = 1 - gpu / host }
  end,

  tests = {
    { name = "the GPU computes for half of it", edges = { ["server.step.gpu"] = 1.7e7, ["server.lines"] = 20 },
      facts = { server = { lines = 400, step = { host = 2e7, gpu = 1e7 } } }, expect = { share = 0.5 } },
    { name = "near miss: the GPU is the slower one", facts = { server = { lines = 400, step = { host = 2e7, gpu = 1.96e7 } } }, expect = "silent" },
    { name = "near miss: a few steps", facts = { server = { lines = 5, step = { host = 2e7, gpu = 1e7 } } }, expect = "silent" },
    { name = "the log has no such times", facts = { server = { lines = 400, step = {} } }, expect = "not_applicable" },
  },
}
