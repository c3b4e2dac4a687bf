-- SyncBatchNorm gathers statistics of every layer over all ranks, in forward and backward: small collectives on the
-- critical path of each layer.
return {
  id        = "comm/sync-batch-norm",
  title     = "Synchronize batch norm statistics across fewer ranks",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "design",
  knowledge = { "K-K2", "K-J7" },

  needs      = { "family.batch_norm_sync.per_step", "comm.per_step" },
  thresholds = { "min_per_step", "min_comm" },

  symptom = "Batch norm statistics are combined across ranks by {count:count} kernels and {collectives:count} collectives {per:text}.",
  cause   = "Every batch norm layer was converted to its synchronized form.",
  fixes   = {
    { action = "With 16 or more samples per GPU, use plain batch norm: it is usually enough" },
    { action = "Use group norm or layer norm, which need no statistics from other ranks" },
    { action  = "Synchronize inside a node only",
      snippet = [[group, _ = dist.new_subgroups()          # one group per node; every rank calls it
model = nn.SyncBatchNorm.convert_sync_batchnorm(model, group)]],
      language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Detection and segmentation with one or two images per GPU, which need it.",
  references = { "pytorch/ddp" },

  applies = function(f)
    return f.family.batch_norm_sync.per_step > 0, "no batch norm statistics are synchronized"
  end,

  detect = function(f, t)
    if not at_least(f.family.batch_norm_sync.per_step, t.min_per_step) or not at_least(f.comm.per_step, t.min_comm) then return nil end
    return { count = f.family.batch_norm_sync.per_step, collectives = f.comm.per_step }
  end,

  tests = {
    { name = "53 layers",
      edges = { ["comm.per_step"] = 10, ["family.batch_norm_sync.per_step"] = 20 },
      facts = { family = { batch_norm_sync = { per_step = 159 } }, comm = { per_step = 110 } },
      expect = { count = 159 } },
    { name = "near miss: a few layers",
      facts = { family = { batch_norm_sync = { per_step = 6 } }, comm = { per_step = 12 } },
      expect = "silent" },
    { name = "near miss: one GPU",
      facts = { family = { batch_norm_sync = { per_step = 159 } }, comm = { per_step = 0 } },
      expect = "silent" },
    { name = "none",
      facts = { family = { batch_norm_sync = { per_step = 0 } }, comm = { per_step = 0 } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
