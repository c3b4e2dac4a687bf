-- Most steps replay a CUDA graph, some launch every kernel one by one: their shape was not captured. Those steps idle
-- more than the others.
return {
  id        = "graph/misses",
  title     = "Capture graphs for the shapes that still run without one",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 80,
  explains  = { "step/outlier", "step/jitter", "step/periodic-stall", "host/cpu-bound", "launch/bound", "launch/tiny-kernels" },
  knowledge = { "K-H6", "K-A2" },

  loss       = "graph.miss",
  evidence   = { miss = "share" },
  needs      = { "steps.count", "graph.launches" },
  thresholds = { "min_share", "min_steps" },

  symptom = "{miss:pct} of the steps run without the CUDA graph that the other steps use. In them, the GPU is idle for {share:pct} of the time.",
  cause   = "These steps have a batch size or length for which no graph was captured.",
  fixes   = {
    { action  = "Capture more sizes, or pad to captured sizes",
      snippet = [[vllm serve model --compilation-config '{"cudagraph_capture_sizes": [1, 2, 4, 8, 16, 32, 64, 128]}']],
      language = "bash", ["for"] = { "vllm" } },
    { action  = "Capture more sizes, or pad to captured sizes",
      snippet = "python -m sglang.launch_server --model-path MODEL --cuda-graph-bs 1 2 4 8 16 32 64 128",
      language = "bash", ["for"] = { "sglang" } },
    { action  = "Drop or pad the last, smaller batch",
      snippet = "loader = DataLoader(dataset, batch_size=64, drop_last=True)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Capture a graph for each size that occurs, or pad inputs to the sizes of captured graphs" },
  },
  false_positives = "Prefill steps of a server. Their lengths vary, and they are long enough without graphs.",
  references = { "pytorch/cuda-graphs", "cuda-programming/graphs" },

  applies = function(f)
    return f.graph.launches > 0 and f.graph.miss.share > 0, "no CUDA graphs are launched, or every step uses them"
  end,

  detect = function(f, t, e)
    if not at_least(e.miss, t.min_steps) then return nil end
    return e
  end,

  saving = { part = 1, confidence = 0.6, basis = "these steps idle no longer than the others" },

  tests = {
    { name = "every fifth step is eager",
      edges = { ["graph.miss.lost"] = 2e7, ["graph.miss.share"] = 0.05 },
      facts = { window = { device_time = 1e9 }, steps = { count = 50 }, graph = { launches = 40, miss = { share = 0.2, lost = 1e8 } } },
      expect = { share = 0.1, miss = 0.2 },
      saving = { claims = 1e8, part = 1 } },
    { name = "near miss: they cost nothing",
      facts = { window = { device_time = 1e9 }, steps = { count = 50 }, graph = { launches = 40, miss = { share = 0.2, lost = 1e6 } } },
      expect = "silent" },
    { name = "near miss: one of a hundred",
      facts = { window = { device_time = 1e9 }, steps = { count = 100 }, graph = { launches = 99, miss = { share = 0.01, lost = 1e8 } } },
      expect = "silent" },
    { name = "every step uses the graph",
      facts = { window = { device_time = 1e9 }, steps = { count = 50 }, graph = { launches = 50, miss = { share = 0, lost = 0 } } },
      expect = "not_applicable" },
    { name = "no steps",
      facts = { window = { device_time = 1e9 } },
      expect = "cannot_tell" },
  },
}
