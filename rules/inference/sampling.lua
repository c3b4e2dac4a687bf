-- Choosing the next token by sorts, cumulative sums and masks over the vocabulary, a kernel each. How much could be won
-- depends on the model, so this only informs.
return {
  id        = "inference/sampling",
  title     = "Use fused kernels to sample tokens",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-C5", "K-H6" },

  measure        = "family.sampling",
  not_applicable = "no sampling kernels ran",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Sampling tokens takes {share:pct} of the compute time: {count:count} kernels {per:text}.",
  cause   = "Top-k and top-p sampling sort the whole vocabulary for every sequence, in several kernels.",
  fixes   = {
    { action = "Use a sampler that rejects instead of sorting (FlashInfer), or greedy decoding if that is enough" },
    { action = "Apply penalties and masks only to the sequences that need them" },
  },
  false_positives = "Very small models, whose step is short.",
  references = { "nvidia/gpu-background" },

  tests = {
    { name = "top-p by sorting",
      edges = { ["family.sampling.per_step"] = 2, ["family.sampling.share"] = 0.08 },
      facts = { family = { sampling = { per_step = 20, share = 0.3 } } },
      expect = { share = 0.3, count = 20 } },
    { name = "near miss: a fused sampler",
      facts = { family = { sampling = { per_step = 20, share = 0.02 } } },
      expect = "silent" },
    { name = "near miss: one kernel a step",
      facts = { family = { sampling = { per_step = 1, share = 0.3 } } },
      expect = "silent" },
    { name = "no tokens are chosen",
      facts = { family = { sampling = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
