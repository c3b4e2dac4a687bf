-- Norms of gradients and their scaling pass over all gradients once or twice more, a kernel a tensor where the multi-
-- tensor form is not used. How much could be won depends on the model, so this only informs.
return {
  id        = "kernel/gradient-clipping",
  title     = "Clip gradients with multi-tensor kernels",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-H6", "K-C5" },

  measure        = "family.clip",
  not_applicable = "no kernels clip gradients",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Measuring and scaling gradients takes {share:pct} of the compute time: {count:count} kernels {per:text}.",
  cause   = "Gradient clipping reads all gradients to get their norm, and once more to scale them.",
  fixes   = {
    { action  = "Use the multi-tensor form",
      snippet = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Use an optimizer that clips as part of its update (Apex, DeepSpeed, Transformer Engine)", ["for"] = { "pytorch" } },
    { action = "Clip once per optimizer step, not once per micro-batch" },
  },
  false_positives = "Very small models, where the update is a large part anyway.",
  references = { "pytorch/optimizer-implementations" },

  tests = {
    { name = "two kernels a tensor",
      edges = { ["family.clip.per_step"] = 2, ["family.clip.share"] = 0.04 },
      facts = { family = { clip = { per_step = 20, share = 0.3 } } },
      expect = { share = 0.3, count = 20 } },
    { name = "near miss: a multi-tensor norm",
      facts = { family = { clip = { per_step = 20, share = 0.01 } } },
      expect = "silent" },
    { name = "near miss: one kernel a step",
      facts = { family = { clip = { per_step = 1, share = 0.3 } } },
      expect = "silent" },
    { name = "gradients are not clipped",
      facts = { family = { clip = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
