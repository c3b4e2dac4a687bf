-- A one-hot matrix is made and multiplied by a table, to pick rows of the table. Recognized by operators and recorded
-- sizes: a single value is written into each row of a cleared matrix, and the next product of that size uses it.
return {
  id        = "kernel/one-hot-product",
  title     = "Look rows up instead of multiplying by a one-hot matrix",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 78,
  explains  = { "memory/clearing" },
  knowledge = { "K-A7", "K-C5" },

  loss           = "one_hot",
  applies        = "per_step",
  not_applicable = "no product uses a one-hot matrix",
  evidence       = { "per_step", "rows", "classes" },
  thresholds     = { "min_share" },

  symptom = "One-hot matrices of up to {rows:count} rows and {classes:count} columns are made and multiplied ({per_step:num} {per:text}), which takes longer than looking the rows up, by {share:pct} of the time.",
  cause   = "The matrix is almost all zeros. It is cleared, filled, cast and read by the product, to pick one row of the other operand for each of its rows.",
  fixes   = {
    { action  = "Use an embedding in place of the linear layer: the same weights, and the same result",
      snippet = "table = nn.Embedding(classes, dim)      # in place of nn.Linear(classes, dim, bias=False)\nx = table(ids)                          # in place of linear(F.one_hot(ids, classes).float())",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Where the other operand is no parameter, such as a codebook, look up its rows",
      snippet = "picked = F.embedding(ids, table.weight)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Index the table by the class, and drop the one-hot matrix" },
  },
  false_positives = "Tables of a few rows, where the product is as fast. Matrices that are used for something else as well.",
  references = { "pytorch/tuning-guide" },

  saving = { confidence = 0.8, basis = "no one-hot matrices, and rows looked up at the bandwidth of memory; the backward pass stays as long as it is" },

  tests = {
    { name = "words of six bases as one-hot matrices",
      edges = { ["one_hot.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 },
                one_hot = { per_step = 1, rows = 49152, classes = 4096, lost = 2e8, remedy = true } },
      expect = { share = 0.2, per_step = 1, rows = 49152, classes = 4096 },
      saving = { claims = 2e8, confidence = 0.8 } },
    { name = "near miss: ten classes",
      facts = { window = { device_time = 1e9 },
                one_hot = { per_step = 1, rows = 256, classes = 10, lost = 1e6, remedy = true } },
      expect = "silent" },
    { name = "rows are looked up",
      facts = { window = { device_time = 1e9 },
                one_hot = { per_step = 0, rows = 0, classes = 0, lost = 0, remedy = true } },
      expect = "not_applicable" },
    { name = "sizes were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
