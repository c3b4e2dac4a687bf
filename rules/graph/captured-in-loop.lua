-- Stream capture in the loop: the work of a step is recorded instead of run, with everything that goes with it (no
-- allocation, no waits), and then instantiated.
return {
  id        = "graph/captured-in-loop",
  title     = "Capture CUDA graphs before the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 80,
  explains  = { "graph/rebuilt-in-loop", "host/cpu-bound", "launch/bound", "sync/item-in-loop" },
  knowledge = { "K-H6", "K-A2" },

  needs_loop = true,
  loss       = "calls.graph_capture",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "CUDA graphs are captured in the loop ({count:count} calls {per:text}). The GPU waits {share:pct} of the time for that.",
  cause   = "New shapes keep appearing, or the captured graph is thrown away.",
  fixes   = {
    { action = "Capture the shapes that occur before the loop, and pad inputs to them" },
    { action = "Keep captured graphs in a table, one per shape" },
    { action  = "With torch.compile, run inputs of varying sizes without CUDA graphs: it captures one graph per size, also for dynamic dimensions",
      snippet = "torch._inductor.config.triton.cudagraph_skip_dynamic_graphs = True   # and torch._dynamo.mark_dynamic(x, 0)",
      language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Warm-up of a server.",
  references = { "cuda-programming/graphs", "pytorch/cuda-graphs" },

  saving = { confidence = 0.7, basis = "graphs are captured before the loop" },

  tests = {
    { name = "a capture in each step",
      edges = { ["calls.graph_capture.lost"] = 2e7, ["calls.graph_capture.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, calls = { graph_capture = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.7 } },
    { name = "near miss: beside the GPU's work",
      facts = { window = { device_time = 1e9 }, calls = { graph_capture = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, calls = { graph_capture = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no graphs are captured in the loop",
      facts = { window = { device_time = 1e9 }, calls = { graph_capture = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
