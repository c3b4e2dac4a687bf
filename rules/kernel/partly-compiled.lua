-- Some kernels come from a compiler, and many element-wise kernels still run one by one: the graph breaks, or only a
-- part of the model is compiled.
return {
  id        = "kernel/partly-compiled",
  title     = "Let the compiler see the whole model",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-C5", "K-H6" },

  needs      = { "family.compiled.share", "kernel.elementwise.share", "kernel.elementwise.count" },
  thresholds = { "min_compiled", "min_eager" },

  symptom = "Compiled kernels take {compiled:pct} of the compute time, and unfused element-wise kernels still take {eager:pct}: {count:count} {per:text}.",
  cause   = "The compiler breaks its graph, or only a part of the model is compiled.",
  fixes   = {
    { action  = "Find out where the graph breaks",
      snippet = "TORCH_LOGS=graph_breaks python train.py",
      language = "bash", ["for"] = { "pytorch" } },
    { action  = "Make graph breaks errors, to find them",
      snippet = "model = torch.compile(model, fullgraph=True)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Compile the loss and the optimizer step, too", ["for"] = { "pytorch" } },
  },
  false_positives = "Parts that are meant to run eagerly.",
  references = { "pytorch/compile" },

  applies = function(f)
    return f.family.compiled.share > 0, "no compiled kernels ran"
  end,

  detect = function(f, t)
    if not at_least(f.family.compiled.share, t.min_compiled) or not at_least(f.kernel.elementwise.share, t.min_eager) then return nil end
    return { compiled = f.family.compiled.share, eager = f.kernel.elementwise.share, count = f.kernel.elementwise.count }
  end,

  tests = {
    { name = "half compiled",
      edges = { ["family.compiled.share"] = 0.02, ["kernel.elementwise.share"] = 0.1 },
      facts = { family = { compiled = { share = 0.3 } }, kernel = { elementwise = { share = 0.25, count = 300 } } },
      expect = { compiled = 0.3, eager = 0.25 } },
    { name = "near miss: all of it",
      facts = { family = { compiled = { share = 0.3 } }, kernel = { elementwise = { share = 0.02, count = 10 } } },
      expect = "silent" },
    { name = "near miss: one small function",
      facts = { family = { compiled = { share = 0.005 } }, kernel = { elementwise = { share = 0.3, count = 10 } } },
      expect = "silent" },
    { name = "nothing is compiled",
      facts = { family = { compiled = { share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels",
      facts = {},
      expect = "cannot_tell" },
  },
}
