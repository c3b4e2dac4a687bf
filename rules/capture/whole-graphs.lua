-- Graphs were traced as a whole: what runs inside them (kernels, their classes, precision, gaps) is not in the report,
-- and rules about kernels judge the rest only.
return {
  id        = "capture/whole-graphs",
  title     = "Record the kernels inside CUDA graphs",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  topic     = "closed-graphs",
  knowledge = { "K-O1", "K-G3" },

  measure        = "graph.whole",
  applies        = "share",
  not_applicable = "no graph was recorded as a whole",
  evidence       = { "share" },
  thresholds     = { "min_share" },

  symptom = "{share:pct} of the compute time is inside CUDA graphs whose kernels were not recorded.",
  cause   = "By default the profiler records each graph as a whole, because that costs less.",
  fixes   = {
    { action  = "Record the nodes of the graphs, in a short capture",
      snippet = "nsys profile --cuda-graph-trace=node -o report -- COMMAND",
      language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "A capture that must disturb the run as little as possible.",
  references = { "nsys/cli-options" },

  tests = {
    { name = "a server with graphs",
      edges = { ["graph.whole.share"] = 0.2 },
      facts = { graph = { whole = { share = 0.9 } } },
      expect = { share = 0.9 } },
    { name = "near miss: a small graph",
      facts = { graph = { whole = { share = 0.05 } } },
      expect = "silent" },
    { name = "none",
      facts = { graph = { whole = { share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels",
      facts = {},
      expect = "cannot_tell" },
  },
}
