-- Sums, means and norms as kernels of their own, as unfused normalization layers, losses and metrics have them: each
-- reads a tensor for one number a row. How much could be won depends on the model, so this only informs.
return {
  id        = "kernel/many-reductions",
  title     = "Fuse reductions with the work around them",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-C5", "K-E3" },

  measure        = "family.reduction",
  not_applicable = "no reduction kernels ran",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Reductions take {share:pct} of the compute time: {count:count} kernels {per:text}.",
  cause   = "Normalization layers or statistics are written as separate operations: mean, variance and scaling each read the tensor again.",
  fixes   = {
    { action  = "Use the fused layers of the framework",
      snippet = "norm = torch.nn.RMSNorm(dim)           # instead of x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Let the compiler fuse them",
      snippet = "model = torch.compile(model)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Compute metrics every N steps, over stored results" },
  },
  false_positives = "Models in which reductions are the work (statistics, physics).",
  references = { "pytorch/compile" },

  tests = {
    { name = "a hand-written norm in each layer",
      edges = { ["family.reduction.per_step"] = 8, ["family.reduction.share"] = 0.1 },
      facts = { family = { reduction = { per_step = 80, share = 0.3 } } },
      expect = { share = 0.3, count = 80 } },
    { name = "near miss: gradient norms",
      facts = { family = { reduction = { per_step = 80, share = 0.025 } } },
      expect = "silent" },
    { name = "near miss: few of them",
      facts = { family = { reduction = { per_step = 4, share = 0.3 } } },
      expect = "silent" },
    { name = "no reductions",
      facts = { family = { reduction = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
