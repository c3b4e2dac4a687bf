-- Prefill (whole prompts: compute) and decode (one token a step: memory and launches) want different settings, and slow
-- each other down in one batch.
return {
  id        = "inference/phases",
  title     = "Measure prefill and decode separately",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "design",
  own_steps = true,
  knowledge = { "K-E1", "K-N6" },

  needs      = { "family.decode.share", "family.prefill.share", "family.decode.per_step" },
  optional   = { "steps.backward.time" },
  thresholds = { "min_share" },

  symptom = "Attention of single tokens (decode) takes {decode:pct} of the compute time; attention of whole prompts (prefill) takes {prefill:pct}.",
  cause   = "Decode steps are short and limited by memory and launches; prefill is long and limited by arithmetic.",
  fixes   = {
    { action = "Measure the time to the first token and the time per token separately" },
    { action = "Limit the tokens per prefill chunk, so that prefill does not delay decode steps" },
    { action = "Run prefill and decode on different GPUs if both matter" },
  },
  false_positives = "Training with kernels of a serving library.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    if (f.steps.backward.time or 0) > 0 then return false, "the run has a backward pass: it trains" end
    return f.family.decode.per_step > 0, "no attention kernels of single tokens ran"
  end,

  detect = function(f, t)
    if not at_least(f.family.decode.share, t.min_share) then return nil end
    if not at_least(f.family.prefill.share, t.min_share) then return nil end
    return { decode = f.family.decode.share, prefill = f.family.prefill.share }
  end,

  tests = {
    { name = "a server under load",
      edges = { ["family.decode.share"] = 0.02 },
      facts = { family = { decode = { share = 0.2, per_step = 32 }, prefill = { share = 0.1 } } },
      expect = { decode = 0.2, prefill = 0.1 } },
    { name = "near miss: a test request",
      facts = { family = { decode = { share = 0.001, per_step = 1 }, prefill = { share = 0 } } },
      expect = "silent" },
    { name = "near miss: only decode steps",
      facts = { family = { decode = { share = 0.4, per_step = 32 }, prefill = { share = 0.002 } } },
      expect = "silent" },
    { name = "training with a serving library's kernels",
      facts = { family = { decode = { share = 0.2, per_step = 32 }, prefill = { share = 0 } }, steps = { backward = { time = 1e6 } } },
      expect = "not_applicable" },
    { name = "training",
      facts = { family = { decode = { share = 0, per_step = 0 }, prefill = { share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels",
      facts = {},
      expect = "cannot_tell" },
  },
}
