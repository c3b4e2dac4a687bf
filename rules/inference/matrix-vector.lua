-- Products of a matrix with one or a few vectors: the weights are read from memory for very little arithmetic. A batch
-- reads them once for all.
return {
  id        = "inference/matrix-vector",
  title     = "Serve more sequences at once",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  scope     = "run",
  effort    = "design",
  knowledge = { "K-E1", "K-H2" },

  needs      = { "family.gemv.share", "family.gemv.per_step" },
  thresholds = { "min_share" },

  symptom = "{share:pct} of the GPU time multiplies matrices with single vectors, {count:count} kernels a step: each reads all weights for one token.",
  cause   = "One sequence, or very few, is decoded at a time.",
  fixes   = {
    { action = "Batch requests (continuous batching), up to the latency that is allowed" },
    { action = "Quantise weights: half the bytes, about half the time" },
    { action = "Decode several tokens a step (speculative decoding)" },
  },
  false_positives = "Interactive use by one person.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    return f.family.gemv.share > 0, "no matrix-vector products ran"
  end,

  detect = function(f, t)
    if not at_least(f.family.gemv.share, t.min_share) then return nil end
    return { share = f.family.gemv.share, count = f.family.gemv.per_step }
  end,

  tests = {
    { name = "decoding one sequence",
      facts = { family = { gemv = { share = 0.8, per_step = 225 } } },
      expect = { share = 0.8 } },
    { name = "near miss: a small part",
      facts = { family = { gemv = { share = 0.05, per_step = 4 } } },
      expect = "silent" },
    { name = "none",
      facts = { family = { gemv = { share = 0, per_step = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels",
      facts = {},
      expect = "cannot_tell" },
  },
}
