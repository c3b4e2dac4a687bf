-- Choosing the next token by sorts, cumulative sums and masks over the vocabulary, a kernel each. Where tokens are decoded and
-- sampled, sorts and scans are those of the vocabulary. How much could be won depends on the model, so this only informs.
return {
  id        = "inference/sampling",
  title     = "Use fused kernels to sample tokens",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-C5", "K-H6" },

  needs      = { "family.sampling.share", "family.sampling.per_step" },
  optional   = { "family.sort.share", "family.sort.per_step", "family.scan.share", "family.scan.per_step", "run.decode", "run.trains" },
  thresholds = { "min_share", "min_count" },

  symptom = "Sampling tokens takes {share:pct} of the compute time: {count:count} kernels {per:text}.",
  cause   = "Top-k and top-p sampling sort the whole vocabulary for every sequence, in several kernels.",
  fixes   = {
    { action = "Use a sampler that rejects instead of sorting (FlashInfer), or greedy decoding if that is enough" },
    { action = "Apply penalties and masks only to the sequences that need them" },
  },
  false_positives = "Very small models, whose step is short.",
  references = { "nvidia/gpu-background" },

  applies = function(f) return f.family.sampling.per_step > 0, "no sampling kernels ran" end,

  detect = function(f, t)
    local part, count = f.family.sampling.share, f.family.sampling.per_step
    if f.run.decode and not f.run.trains then
      for _, one in ipairs({ f.family.sort, f.family.scan }) do
        part, count = part + (one.share or 0), count + (one.per_step or 0)
      end
    end
    if not at_least(part, t.min_share) or not at_least(count, t.min_count) then return nil end
    return { share = part, count = count }
  end,

  tests = {
    { name = "sorts and sums of the vocabulary",
      edges = { ["family.sampling.share"] = 0.04 },
      facts = { run = { decode = true },
                family = { sampling = { per_step = 1, share = 0.06 }, sort = { per_step = 4, share = 0.03 }, scan = { per_step = 1, share = 0.01 } } },
      expect = { share = 0.1, count = 6 } },
    { name = "near miss: sorts of a model that is trained",
      facts = { run = { decode = true, trains = true },
                family = { sampling = { per_step = 1, share = 0.06 }, sort = { per_step = 4, share = 0.03 }, scan = { per_step = 1, share = 0.01 } } },
      expect = "silent" },
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
