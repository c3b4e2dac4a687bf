-- Graphs that are instantiated, changed node by node or uploaded in the loop: each costs tens of microseconds a node on
-- the host.
return {
  id        = "graph/rebuilt-in-loop",
  title     = "Build CUDA graphs once",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 79,
  explains  = { "host/cpu-bound", "launch/bound" },
  knowledge = { "K-H6", "K-H14" },

  needs_loop = true,
  loss       = "calls.graph_build",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "CUDA graphs are built or changed in the loop ({count:count} calls {per:text}). The GPU waits {share:pct} of the time for that.",
  cause   = "The program builds the graph again for each step, or for each new shape.",
  fixes   = {
    { action  = "Instantiate once and update only the parameters that change",
      snippet = "cudaGraphExecUpdate(executable, graph, &result);       // instead of cudaGraphInstantiate in each step",
      language = "cpp", ["for"] = { "c++" } },
    { action = "Keep one executable graph per shape, and pad shapes to a few sizes" },
    { action = "Put changing values into device memory that the graph reads" },
  },
  false_positives = "The first steps with each shape.",
  references = { "cuda-programming/graphs", "pytorch/cuda-graphs" },

  saving = { confidence = 0.7, basis = "graphs are built before the loop" },

  tests = {
    { name = "a graph is instantiated in each step",
      edges = { ["calls.graph_build.lost"] = 2e7, ["calls.graph_build.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, calls = { graph_build = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.7 } },
    { name = "near miss: beside the GPU's work",
      facts = { window = { device_time = 1e9 }, calls = { graph_build = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, calls = { graph_build = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no graphs are built in the loop",
      facts = { window = { device_time = 1e9 }, calls = { graph_build = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
