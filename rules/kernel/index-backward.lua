-- Backward passes of embeddings and of advanced indexing add gradients up by index: sorted, and with one block a run of
-- equal indices, or with atomics. How much could be won depends on the model, so this only informs.
return {
  id        = "kernel/index-backward",
  title     = "Add up gradients without sorting indices",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-A7", "K-C5" },

  measure        = "family.index_backward",
  not_applicable = "no kernels add up gradients by index",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Adding up gradients by index takes {share:pct} of the compute time: {count:count} kernels {per:text}.",
  cause   = "The backward pass of an index operation sorts the indices and adds up rows. Where many indices are equal, a few blocks do most of the work.",
  fixes   = {
    { action  = "Use index_select for one dimension: its backward pass is an index_add, which sorts nothing",
      snippet = "rows = table.index_select(0, indices)          # instead of table[indices]",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "For embedding tables, call torch.nn.functional.embedding: it sorts as well, but its kernels are made for repeated rows",
      snippet = "rows = F.embedding(indices, table)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "For tables whose rows are mostly untouched, use sparse gradients or a library of fused embeddings (FBGEMM)", ["for"] = { "pytorch" } },
  },
  false_positives = "Recommender models with a fused library, whose main work this is.",
  references = { "pytorch/tuning-guide" },

  tests = {
    { name = "an advanced index in each layer",
      edges = { ["family.index_backward.per_step"] = 1.5, ["family.index_backward.share"] = 0.05 },
      facts = { family = { index_backward = { per_step = 15, share = 0.3 } } },
      expect = { share = 0.3, count = 15 } },
    { name = "near miss: a small embedding table",
      facts = { family = { index_backward = { per_step = 15, share = 0.0125 } } },
      expect = "silent" },
    { name = "near miss: one lookup a step",
      facts = { family = { index_backward = { per_step = 0.75, share = 0.3 } } },
      expect = "silent" },
    { name = "no gradients by index",
      facts = { family = { index_backward = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
