-- An executable graph that is compared with a new one, node by node, before each launch. That is cheaper than to
-- instantiate it, but costs the host a microsecond or more for each node, whether anything changed or not.
return {
  id        = "graph/updated-in-loop",
  title     = "Update CUDA graphs only when something changed",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 79,
  explains  = { "host/cpu-bound", "launch/bound" },
  knowledge = { "K-H6", "K-H14" },

  needs_loop = true,
  loss       = "calls.graph_update",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "Executable CUDA graphs are updated as a whole in the loop ({count:count} calls {per:text}). The GPU waits {share:pct} of the time for that.",
  cause   = "The update compares all nodes of the graph with those of a new one on the host, also where nothing changed. The graph is launched only after that.",
  fixes   = {
    { action = "Launch the executable graph again as it is, and update it only when its work has changed" },
    { action  = "Set only the nodes that change",
      snippet = "cudaGraphExecKernelNodeSetParams(executable, node, &parameters);   // instead of cudaGraphExecUpdate",
      language = "cpp", ["for"] = { "c++" } },
    { action = "Put changing values into device memory that the graph reads" },
    { action = "Keep two executable graphs, and update one while the GPU runs the other" },
  },
  false_positives = "Graphs whose work differs at each launch.",
  references = { "cuda-programming/graphs" },

  saving = { confidence = 0.7, basis = "graphs are launched without an update" },

  tests = {
    { name = "a graph is updated before each launch",
      edges = { ["calls.graph_update.lost"] = 2e7, ["calls.graph_update.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, calls = { graph_update = { per_step = 1, lost = 4e8, remedy = true } } },
      expect = { share = 0.4, count = 1 },
      saving = { claims = 4e8, confidence = 0.7 } },
    { name = "near miss: while the GPU works",
      facts = { window = { device_time = 1e9 }, calls = { graph_update = { per_step = 1, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, calls = { graph_update = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no graphs are updated",
      facts = { window = { device_time = 1e9 }, calls = { graph_update = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
