-- Many short graphs a step with gaps between them: each graph launch costs the host several microseconds, and between
-- graphs its code runs again.
return {
  id        = "graph/small-graphs",
  title     = "Launch fewer, larger CUDA graphs",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "code",
  priority  = 67,
  explains  = { "launch/bound", "host/cpu-bound", "host/blocked" },
  knowledge = { "K-H6", "K-B3" },

  needs      = { "window.device_time", "graph.launches", "graph.per_step", "graph.gap.lost", "graph.gap.count",
                 "graph.gpu.median" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_per_step", "max_gpu" },

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

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.graph.launches > 0, "no CUDA graphs are launched"
  end,

  detect = function(f, t)
    local lost = share(f.graph.gap.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.graph.per_step, t.min_per_step) then return nil end
    if not at_most(f.graph.gpu.median, t.max_gpu) then return nil end
    return { share = lost, count = f.graph.per_step, gpu = f.graph.gpu.median }
  end,

  saving = function(f)
    return { claims = f.graph.gap.lost, part = 0.7, confidence = 0.5, basis = "most gaps before graphs, with fewer graphs" }
  end,

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
