-- Many short collectives: each costs its latency, whatever it carries. Those with compute between them do not count: the
-- sums of layers that GPUs share cannot wait to be sent together. Nor do the sends of a pipeline: as many as there are micro-
-- batches, each of which the next stage waits for.
return {
  id        = "comm/small-messages",
  title     = "Send fewer, larger messages",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 76,
  explains  = { "comm/exposed", "comm/full-link", "launch/tiny-kernels" },
  knowledge = { "K-K2", "K-B5" },
  effort    = "flag",

  loss           = "comm.small",
  applies        = "comm.count",
  not_applicable = "no communication kernels ran",
  optional       = { "comm.kinds", "run.trains", "ranges.all_to_all.count" },
  evidence       = { "per_step", small = "share", median = "comm.median" },
  thresholds     = { "min_per_step", "min_small", "min_share" },

  symptom = "Short collectives ({per_step:count} {per:text}, {small:pct} of all, median {median:time}) and the gaps between them take {share:pct} of the time.",
  cause   = "A collective of a few kilobytes takes hardly longer than its latency, and small tensors that are sent one by one each pay that latency.",
  fixes   = {
    { action = "Let DDP gather gradients into larger buckets",
      snippet = "DistributedDataParallel(model, device_ids=[local_rank], bucket_cap_mb=50, gradient_as_bucket_view=True)", language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Flatten small tensors into one and reduce that",
      snippet = "flat = torch.cat([g.flatten() for g in grads])\ndist.all_reduce(flat)", language = "python", ["for"] = { "pytorch" } },
    { action = "With FSDP, wrap whole transformer blocks instead of single layers; with DeepSpeed, use larger buckets and prefetch sizes",
      snippet = "for block in model.blocks:\n    fully_shard(block)   # FSDP1: auto_wrap_policy with transformer_layer_cls={Block}\nfully_shard(model)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "In C++, put small operations into one group, which launches one kernel",
      snippet = "ncclGroupStart();\nfor (auto& t : tensors) ncclAllReduce(t.in, t.out, t.count, ncclFloat, ncclSum, comm, stream);\nncclGroupEnd();",
      language = "cpp", ["for"] = { "c++" } },
    { action = "Let XLA combine small collectives into larger ones",
      snippet = "export XLA_FLAGS=\"--xla_gpu_all_reduce_combine_threshold_bytes=134217728 --xla_gpu_all_gather_combine_threshold_bytes=134217728\"", language = "bash", ["for"] = { "jax" } },
  },
  false_positives = "Collectives of which each needs the result of the one before, without much compute between them.",
  references = { "pytorch/ddp", "pytorch/fsdp", "nccl/collectives", "deepspeed/zero" },

  detect = function(f, t, e)
    local sends = f.comm.kinds and filter(f.comm.kinds, function(row) return row.kind == "sendrecv" end) or {}
    -- NCCL makes an exchange among all ranks of sends, too; solvers send borders.
    local of_pipeline = f.run.trains and (f.ranges.all_to_all.count or 0) == 0 and 2 * sum(sends, "count") >= f.comm.count
    return not of_pipeline and e or nil
  end,

  saving = { confidence = 0.7, basis = "only a tenth of the short collectives remain" },

  tests = {
    { name = "320 all-reduces of 20 us a step, a fifth of the time",
      edges = { ["comm.small.lost"] = 4e7, ["comm.small.per_step"] = 20, ["comm.small.share"] = 0.5 },
      facts = { window = { device_time = 2e9 },
                comm = { count = 6400, median = 20e3, small = { per_step = 320, share = 0.97, lost = 4e8, remedy = true } } },
      expect = { per_step = 320, small = 0.97, share = 0.2, median = 20e3 },
      saving = { claims = 4e8 } },
    { name = "near miss: the micro-batches of a pipeline",
      facts = { window = { device_time = 2e9 }, run = { trains = true },
                comm = { count = 6400, median = 20e3, kinds = { { kind = "sendrecv", count = 6000, time = 1e8, exposed = 1e8 } },
                         small = { per_step = 320, share = 0.97, lost = 4e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: a dozen small collectives beside large buckets",
      facts = { window = { device_time = 2e9 },
                comm = { count = 600, median = 2e6, small = { per_step = 12, share = 0.4, lost = 5e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: many, but hidden behind compute",
      facts = { window = { device_time = 2e9 },
                comm = { count = 6400, median = 20e3, small = { per_step = 320, share = 0.97, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "one GPU",
      facts = { window = { device_time = 1e9 },
                comm = { count = 0, median = 0, small = { per_step = 0, share = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
