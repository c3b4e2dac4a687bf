-- Sorts and top-k of large tensors take many passes over memory. In training they come from losses, samplers and
-- index_put; in serving from sampling. How much could be won depends on the model, so this only informs.
return {
  id        = "kernel/sort-heavy",
  title     = "Avoid sorting, or sort less",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-A7", "K-C5" },

  measure        = "family.sort",
  not_applicable = "no sorting kernels ran",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Sorting and selecting take {share:pct} of the compute time: {count:count} kernels {per:text}.",
  cause   = "A sort makes several passes over all values, even if only a few of them are needed.",
  fixes   = {
    { action  = "Request the few largest values instead of a full sort",
      snippet = "values, indices = torch.topk(scores, k=50, sorted=False)      # instead of scores.sort()",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Compare with a threshold or a histogram if the exact order does not matter" },
    { action = "For gradients of embeddings, use index_add_ or segment reductions on presorted indices, so that no sort runs in each step" },
  },
  false_positives = "Programs whose purpose is sorting.",
  references = { "pytorch/tuning-guide" },

  tests = {
    { name = "four sorts a step",
      edges = { ["family.sort.per_step"] = 2, ["family.sort.share"] = 0.1 },
      facts = { family = { sort = { per_step = 20, share = 0.3 } } },
      expect = { share = 0.3, count = 20 } },
    { name = "near miss: sampling at the end of a step",
      facts = { family = { sort = { per_step = 20, share = 0.025 } } },
      expect = "silent" },
    { name = "near miss: one sort a step",
      facts = { family = { sort = { per_step = 1, share = 0.3 } } },
      expect = "silent" },
    { name = "nothing is sorted",
      facts = { family = { sort = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
