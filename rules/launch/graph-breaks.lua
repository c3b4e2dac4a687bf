-- torch.compile made several pieces of one pass: between them, Python runs, guards are checked, and operators that no piece
-- took run one by one. The GPU is through with a piece before the next one is launched.
return {
  id        = "launch/graph-breaks",
  title     = "Compile the whole pass as one graph",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 73,
  explains  = { "host/cpu-bound", "launch/host-op-overhead", "launch/bound", "kernel/partly-compiled" },
  knowledge = { "K-C5", "K-H6" },

  needs_loop     = true,
  loss           = "compile.breaks",
  not_applicable = "no pass runs in several compiled pieces",
  evidence       = { count = "per_step", pieces = "compile.breaks.pieces" },
  thresholds     = { "min_share", "min_pieces" },

  symptom = "The graph of torch.compile breaks: the steps run {pieces:count} pieces that were compiled apart. Between them, the GPU waits {share:pct} of the time for the launching thread.",
  cause   = "The compiler ends a piece where it cannot follow the program: print(), .item(), a branch on a tensor, a library that it does not know. Python runs the rest, and checks guards before each piece.",
  fixes   = {
    { action  = "Find out where the graph breaks, and why",
      snippet = "TORCH_LOGS=graph_breaks,recompiles python train.py", language = "bash", ["for"] = { "pytorch" } },
    { action  = "Make breaks errors until none is left",
      snippet = "model = torch.compile(model, fullgraph=True)", language = "python", ["for"] = { "pytorch" } },
    { action  = "Let the compiler keep reads of numbers in the graph, and take logging out of the model",
      snippet = "torch._dynamo.config.capture_scalar_outputs = True", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Programs that compile several functions on purpose, with other work between them.",
  references = { "pytorch/compile" },

  saving = { confidence = 0.6, basis = "nothing runs between the pieces" },

  tests = {
    { name = "24 pieces with Python between them",
      edges = { ["compile.breaks.lost"] = 2e7, ["compile.breaks.pieces"] = 4 },
      facts = { window = { device_time = 1e9 }, compile = { breaks = { per_step = 23, pieces = 24, lost = 4e8, remedy = true } } },
      expect = { share = 0.4, pieces = 24, count = 23 },
      saving = { claims = 4e8, confidence = 0.6 } },
    { name = "near miss: the host is far ahead all the same",
      facts = { window = { device_time = 1e9 }, compile = { breaks = { per_step = 23, pieces = 24, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: model, loss and optimizer, each compiled",
      facts = { window = { device_time = 1e9 }, compile = { breaks = { per_step = 2, pieces = 3, lost = 4e8, remedy = true } } },
      expect = "silent" },
    { name = "nothing is compiled",
      facts = { window = { device_time = 1e9 }, compile = { breaks = { per_step = 0, pieces = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
