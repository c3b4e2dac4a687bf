-- Rotary embeddings as a kernel of their own read and write queries and keys once more. How much could be won depends on
-- the model, so this only informs.
return {
  id        = "inference/rotary-unfused",
  title     = "Fuse the rotary embedding",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-H6" },

  measure        = "family.rotary",
  not_applicable = "no rotary embedding kernels ran",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Rotary embedding kernels take {share:pct} of the compute time: {count:count} {per:text}.",
  cause   = "Queries and keys are read, rotated and written back between the projection and attention.",
  fixes   = {
    { action  = "Let the compiler fuse it with the kernels next to it",
      snippet = "model = torch.compile(model)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Use an attention or cache kernel that also rotates (FlashInfer, TensorRT-LLM, Transformer Engine)" },
  },
  false_positives = "Small models.",
  references = { "pytorch/compile" },

  tests = {
    { name = "an element-wise rotation in each layer",
      edges = { ["family.rotary.per_step"] = 2, ["family.rotary.share"] = 0.05 },
      facts = { family = { rotary = { per_step = 20, share = 0.3 } } },
      expect = { share = 0.3, count = 20 } },
    { name = "near miss: a fast rotation kernel",
      facts = { family = { rotary = { per_step = 20, share = 0.0125 } } },
      expect = "silent" },
    { name = "near miss: one kernel a step",
      facts = { family = { rotary = { per_step = 1, share = 0.3 } } },
      expect = "silent" },
    { name = "there is no rotation",
      facts = { family = { rotary = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
