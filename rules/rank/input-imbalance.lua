-- Batches take different times to load on different ranks: now this rank is late at the collectives, now that one.
return {
  id        = "rank/input-imbalance",
  title     = "Give all ranks batches that load equally fast",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 76,
  explains  = { "comm/exposed", "comm/full-link", "step/jitter", "step/outlier" },
  knowledge = { "K-I2", "K-I5", "K-N19" },
  effort    = "code",

  loss       = "rank.imbalance.input",
  evidence   = { "steps", "spread", top = "top_rank" },
  needs      = { "cluster.ranks" },
  optional   = { "rank.imbalance.input.remedy" },
  thresholds = { "min_share", "max_top" },

  symptom = "In {steps:pct} of the steps, the slowest rank is late because it waits for data. It is not always the same rank: none is the slowest in more than {top:pct} of them. Waiting for it takes {share:pct} of the time.",
  cause   = "Batches differ: some files are larger, longer or in another format. A rank that draws them loads longer, and all others wait for it.",
  fixes   = {
    { action = "Look at the files of slow batches: unusual resolution, sample rate, format or precision; convert them once" },
    { action = "Prefetch more batches, so that a slow one has time to load while earlier ones are used",
      snippet = "loader = DataLoader(dataset, batch_size=B, num_workers=8, prefetch_factor=4, persistent_workers=True)", language = "python", ["for"] = { "pytorch" } },
    { action = "Sort or bucket samples by size, so that all ranks get batches of similar cost in the same step" },
  },
  false_positives = "A file system that stalls all clients in turn.",
  references = { "pytorch/dataloader-workers", "pytorch/ddp" },

  applies = function(f) return f.cluster.ranks > 1, "only one rank was recorded" end,

  saving = { confidence = 0.6, basis = "every rank waits for data as long as the median rank" },

  tests = {
    { name = "the ranks take turns at slow batches",
      edges = { ["rank.imbalance.input.lost"] = 8e7, ["rank.imbalance.input.top_rank"] = 0.6 },
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                rank = { imbalance = { input = { spread = 0.2, steps = 0.5, top_rank = 0.3, lost = 4e8, remedy = true } } } },
      expect = { share = 0.1, steps = 0.5, top = 0.3 }, saving = { claims = 4e8 } },
    { name = "near miss: always the same rank, which is a straggler",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                rank = { imbalance = { input = { spread = 0.2, steps = 0.9, top_rank = 1.0, lost = 4e8, remedy = true } } } },
      expect = "silent" },
    { name = "near miss: uneven, but hardly anybody waits",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                rank = { imbalance = { input = { spread = 0.01, steps = 0.1, top_rank = 0.3, lost = 1e7, remedy = true } } } },
      expect = "silent" },
    { name = "one rank", facts = { cluster = { ranks = 1 } }, expect = "not_applicable" },
    { name = "no steps to compare in", facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 } }, expect = "cannot_tell" },
  },
}
