-- Prefill (whole prompts: compute) and decode (one token a step: memory and launches) want different settings, and slow
-- each other down in one batch.
return {
  id        = "inference/phases",
  title     = "Judge prompts and tokens apart",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  scope     = "run",
  effort    = "design",
  knowledge = { "K-E1", "K-N6" },

  needs      = { "family.decode.share", "family.prefill.share", "family.decode.per_step" },
  thresholds = { "min_share" },

  symptom = "This run serves a model: attention of single tokens takes {decode:pct} of the GPU time, of whole prompts {prefill:pct}.",
  cause   = "Decode steps are short and bound by memory and launches; prefill is long and bound by arithmetic.",
  fixes   = {
    { action = "Judge time to first token and time a token apart" },
    { action = "Limit the tokens of a prefill chunk, so that it does not hold decode steps up" },
    { action = "Run prefill and decode on different GPUs when both matter" },
  },
  false_positives = "Training with kernels of a serving library.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    return f.family.decode.per_step > 0, "no attention kernels of single tokens ran"
  end,

  detect = function(f, t)
    if not at_least(f.family.decode.share, t.min_share) then return nil end
    return { decode = f.family.decode.share, prefill = f.family.prefill.share }
  end,

  tests = {
    { name = "a server under load",
      facts = { family = { decode = { share = 0.2, per_step = 32 }, prefill = { share = 0.1 } } },
      expect = { decode = 0.2, prefill = 0.1 } },
    { name = "near miss: a test request",
      facts = { family = { decode = { share = 0.001, per_step = 1 }, prefill = { share = 0 } } },
      expect = "silent" },
    { name = "training",
      facts = { family = { decode = { share = 0, per_step = 0 }, prefill = { share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels",
      facts = {},
      expect = "cannot_tell" },
  },
}
