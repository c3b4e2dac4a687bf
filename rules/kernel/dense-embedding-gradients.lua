-- Gradients of large tables as dense tensors: a step looks up thousands of rows, and clears and updates millions.
-- Recognized by the recorded sizes: rows of the table against rows that were looked up.
return {
  id        = "kernel/dense-embedding-gradients",
  title     = "Use sparse gradients for embedding tables",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 72,
  explains  = { "kernel/foreach-optimizer", "kernel/unfused-optimizer", "kernel/index-backward", "kernel/embedding-heavy",
                "kernel/sort-heavy", "memory/clearing", "step/idle-optimizer" },
  knowledge = { "K-A7", "K-C5" },

  loss           = "embedding.dense",
  applies        = "per_step",
  not_applicable = "no table has a dense gradient of few rows",
  evidence       = { "per_step", "rows", "lookups" },
  thresholds     = { "min_share" },

  symptom = "Tables of up to {rows:count} rows have dense gradients ({per_step:num} {per:text}), but a step looks up at most {lookups:count} rows. Passes over whole tables, and the host that launches them, take {share:pct} of the time.",
  cause   = "The backward pass clears and sorts for a gradient as large as the table, and the optimizer reads and writes every row. All but a few rows of the gradient are zeros.",
  fixes   = {
    { action  = "Ask for sparse gradients, and give the tables an optimizer that takes them",
      snippet = "table = nn.Embedding(rows, dim, sparse=True)\nopt = torch.optim.SparseAdam(list(table.parameters()))   # or SGD, Adagrad",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Use tables whose backward pass updates the rows at once (FBGEMM, TorchRec)",
      snippet = "ebc = EmbeddingBagCollection(tables=tables, device=\"cuda\")",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Update only the rows that a step has looked up" },
  },
  false_positives = "Optimizers that must move every row in every step: weight decay and momentum on rows without a gradient.",
  references = { "pytorch/tuning-guide" },

  saving = { confidence = 0.7, basis = "no passes over whole tables, and a sparse backward pass that launches less" },

  tests = {
    { name = "four tables of two million rows",
      edges = { ["embedding.dense.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 },
                embedding = { dense = { per_step = 4, rows = 2e6, lookups = 8192, lost = 5e8, remedy = true } } },
      expect = { share = 0.5, rows = 2e6, lookups = 8192, per_step = 4 },
      saving = { claims = 5e8, confidence = 0.7 } },
    { name = "near miss: hidden behind other work",
      facts = { window = { device_time = 1e9 },
                embedding = { dense = { per_step = 4, rows = 2e6, lookups = 8192, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "tables are small, or most rows are looked up",
      facts = { window = { device_time = 1e9 },
                embedding = { dense = { per_step = 0, rows = 0, lookups = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "sizes were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
