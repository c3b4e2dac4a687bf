-- Gathers and scatters by index: bound by memory latency, one kernel a table. How much could be won depends on the
-- model, so this only informs.
return {
  id        = "kernel/embedding-heavy",
  title     = "Look up rows with fewer kernels, in the order of their addresses",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-A7", "K-C5" },

  measure        = "family.embedding",
  not_applicable = "no kernels gather or scatter by index",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Gathers and scatters by index take {share:pct} of the compute time: {count:count} kernels {per:text}.",
  cause   = "Each table, array or index operation is its own kernel that reads memory at random.",
  fixes   = {
    { action  = "Look up all tables in one kernel",
      snippet = [[# TorchRec / FBGEMM: one table-batched lookup instead of one kernel per table
ebc = EmbeddingBagCollection(tables=tables, device="cuda")]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Sort or deduplicate indices, so that neighboring threads read neighboring rows" },
    { action = "If the tables do not fit, keep hot rows in a cache on the GPU and the rest in host memory", ["for"] = { "pytorch", "training", "inference" } },
  },
  false_positives = "Recommenders that already use a fused library.",
  references = { "pytorch/tuning-guide" },

  tests = {
    { name = "26 tables with a lookup each",
      edges = { ["family.embedding.per_step"] = 12, ["family.embedding.share"] = 0.2 },
      facts = { family = { embedding = { per_step = 120, share = 0.3 } } },
      expect = { share = 0.3, count = 120 } },
    { name = "near miss: a token embedding",
      facts = { family = { embedding = { per_step = 120, share = 0.05 } } },
      expect = "silent" },
    { name = "near miss: few lookups",
      facts = { family = { embedding = { per_step = 6, share = 0.3 } } },
      expect = "silent" },
    { name = "no lookups",
      facts = { family = { embedding = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
