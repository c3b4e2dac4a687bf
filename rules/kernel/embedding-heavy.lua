-- Gathers and scatters by index: bound by memory latency, one kernel a table. How much could be won depends on the
-- model, so this only informs.
return {
  id        = "kernel/embedding-heavy",
  title     = "Use fused embedding lookups",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-A7", "K-C5" },

  measure        = "family.embedding",
  not_applicable = "no such kernels ran",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "{share:pct} of the GPU time gathers or scatters by index, in {count:count} kernels a step.",
  cause   = "Each table or index operation is a kernel of its own that reads memory at random.",
  fixes   = {
    { action  = "Look all tables up in one kernel",
      snippet = [[# TorchRec / FBGEMM: one table-batched lookup instead of one kernel a table
ebc = EmbeddingBagCollection(tables=tables, device="cuda")]],
      language = "python" },
    { action = "Sort or deduplicate indices, so that neighbours read neighbouring rows" },
    { action = "Keep hot rows in a cache on the GPU and the rest in host memory only when they do not fit" },
  },
  false_positives = "Recommenders that use a fused library already.",
  references = { "pytorch/tuning-guide" },

  tests = {
    { name = "26 tables with a lookup each",
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
