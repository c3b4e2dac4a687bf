-- Many short graphs a step with gaps between them: each graph launch costs the host several microseconds, and between
-- graphs its code runs again.
return {
  id        = "graph/small-graphs",
  title     = "Launch fewer, larger CUDA graphs",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 67,
  explains  = { "launch/bound", "host/cpu-bound", "host/blocked" },
  knowledge = { "K-H6", "K-B3" },

  needs_loop     = true,
  loss           = "graph.gap",
  applies        = "graph.launches",
  not_applicable = "no CUDA graphs are launched",
  evidence       = { count = "graph.per_step", gpu = "graph.gpu.median" },
  needs          = { "graph.gap.count" },
  thresholds     = { "min_share", "min_per_step", "max_gpu" },

  symptom = "{count:count} CUDA graphs a step run for {gpu:time} each, with gaps of {share:pct} of the GPU time before them.",
  cause   = "The step is cut into many small graphs, and the host is not ahead between them.",
  fixes   = {
    { action = "Join graphs that always follow each other, with the work between them captured, too" },
    { action  = "Find what breaks the graph",
      snippet = "TORCH_LOGS=graph_breaks,cudagraphs python train.py",
      language = "bash" },
    { action = "Launch the next graph before the host looks at the result of the last" },
  },
  false_positives = "Pieces that have to stay apart, because the host decides between them.",
  references = { "cuda-programming/graphs", "pytorch/cuda-graphs" },

  detect = function(f, t, e)
    if not at_least(e.count, t.min_per_step) then return nil end
    return e
  end,

  saving = { part = 0.7, confidence = 0.5, basis = "most gaps before graphs, with fewer graphs" },

  tests = {
    { name = "twenty graphs of 40 us a step",
      facts = { window = { device_time = 1e9 }, graph = { launches = 200, per_step = 20, gap = { count = 200, lost = 2e8 }, gpu = { median = 40000 } } },
      expect = { share = 0.2, count = 20, gpu = 40000 },
      saving = { claims = 2e8, part = 0.7 } },
    { name = "near miss: three graphs a step",
      facts = { window = { device_time = 1e9 }, graph = { launches = 200, per_step = 3, gap = { count = 200, lost = 2e8 }, gpu = { median = 40000 } } },
      expect = "silent" },
    { name = "near miss: long graphs",
      facts = { window = { device_time = 1e9 }, graph = { launches = 200, per_step = 20, gap = { count = 200, lost = 2e8 }, gpu = { median = 5e6 } } },
      expect = "silent" },
    { name = "near miss: no gaps",
      facts = { window = { device_time = 1e9 }, graph = { launches = 200, per_step = 20, gap = { count = 200, lost = 1e6 }, gpu = { median = 40000 } } },
      expect = "silent" },
    { name = "no graphs",
      facts = { window = { device_time = 1e9 }, graph = { launches = 0, per_step = 20, gap = { count = 200, lost = 2e8 }, gpu = { median = 40000 } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
