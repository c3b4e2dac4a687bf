-- Launching the graph takes the host about as long as the GPU needs to run it, so the GPU waits for the launch of the
-- next. The cost grows with the number of nodes and of branches.
return {
  id        = "graph/slow-launch",
  title     = "Make CUDA graphs cheaper to launch",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 68,
  explains  = { "launch/bound", "host/cpu-bound", "graph/small-graphs" },
  knowledge = { "K-H6", "K-B3" },

  needs_loop = true,
  needs      = { "window.device_time", "graph.launches", "graph.call.median", "graph.gpu.median", "graph.slow.lost", "graph.slow.remedy" },
  thresholds = { "min_share", "min_call_share" },

  symptom = "Launching a CUDA graph takes {call:time}; running it takes {gpu:time}. The GPU waits for these launches for {share:pct} of the time.",
  cause   = "The graph has many short nodes or branches, or it is uploaded again at each launch.",
  fixes   = {
    { action = "Fuse the short kernels of the graph" },
    { action = "Upload the graph before its first launch (cudaGraphUpload), and do not change it between launches" },
    { action = "Keep the graph linear where branches gain nothing: newer drivers and toolkits launch linear graphs in nearly constant time" },
  },
  false_positives = "Graphs of a few nodes, whose time is latency.",
  references = { "cuda-programming/graphs", "nvidia/graph-launch" },

  applies = function(f) return f.graph.launches > 0 and f.graph.gpu.median > 0, "no CUDA graph is launched whose work on the GPU was recorded" end,

  detect = function(f, t)
    local lost = share(f.graph.slow.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(share(f.graph.call.median, f.graph.gpu.median), t.min_call_share) then return nil end
    return { share = lost, call = f.graph.call.median, gpu = f.graph.gpu.median }
  end,

  saving = { claims = "graph.slow.lost", remedy = "graph.slow.remedy", confidence = 0.5, basis = "launches of graphs take their usual time" },

  tests = {
    { name = "300 us to launch, 200 us to run",
      edges = { ["graph.call.median"] = 1e5, ["graph.slow.lost"] = 3e7 },
      facts = { window = { device_time = 1e9 }, graph = { launches = 100, call = { median = 300000 }, gpu = { median = 200000 }, slow = { lost = 3e8, remedy = true } } },
      expect = { share = 0.3 },
      saving = { claims = 3e8, confidence = 0.5 } },
    { name = "near miss: a cheap launch",
      facts = { window = { device_time = 1e9 }, graph = { launches = 100, call = { median = 10000 }, gpu = { median = 200000 }, slow = { lost = 3e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: no gaps",
      facts = { window = { device_time = 1e9 }, graph = { launches = 100, call = { median = 300000 }, gpu = { median = 200000 }, slow = { lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "no graphs",
      facts = { window = { device_time = 1e9 }, graph = { launches = 0, call = { median = 0 }, gpu = { median = 0 }, slow = { lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
