-- Many short collectives: each costs its latency, whatever it carries.
return {
  id        = "comm/small-messages",
  title     = "Send fewer, larger messages",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 72,
  explains  = { "comm/exposed", "launch/tiny-kernels" },
  knowledge = { "K-K2", "K-B5" },
  effort    = "flag",

  loss           = "comm.small",
  applies        = "comm.count",
  not_applicable = "no communication kernels ran",
  evidence       = { "per_step", small = "share", median = "comm.median" },
  optional       = { "steps.count" },
  thresholds     = { "min_per_step", "min_small", "min_share" },

  symptom = "{per_step:count} short collectives {per:text} ({small:pct} of all, median {median:time}) and the gaps between them take {share:pct} of the time.",
  cause   = "A collective of a few kilobytes takes as long as its latency. Sent one by one, small tensors cost that latency each.",
  fixes   = {
    { action = "Let DDP gather gradients into larger buckets",
      snippet = "DistributedDataParallel(model, device_ids=[local_rank], bucket_cap_mb=50, gradient_as_bucket_view=True)", language = "python" },
    { action = "Flatten small tensors into one and reduce that",
      snippet = "flat = torch.cat([g.flatten() for g in grads])\ndist.all_reduce(flat)", language = "python" },
    { action = "With FSDP wrap whole transformer blocks instead of single layers; with DeepSpeed raise the bucket and prefetch sizes",
      snippet = "FSDP(model, auto_wrap_policy=functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}))",
      language = "python" },
    { action = "In C++ put small operations into one group, which launches one kernel",
      snippet = "ncclGroupStart();\nfor (auto& t : tensors) ncclAllReduce(t.in, t.out, t.count, ncclFloat, ncclSum, comm, stream);\nncclGroupEnd();",
      language = "cpp" },
  },
  false_positives = "Tensor-parallel inference of single tokens: these collectives are small by nature; a one-shot all-reduce helps there.",
  references = { "pytorch/ddp", "pytorch/fsdp", "nccl/collectives", "deepspeed/zero" },

  detect = function(f, t, e)
    e.per = f.steps.count and "a step" or "in the window"
    return e
  end,

  saving = { confidence = 0.7, basis = "a tenth of the short collectives" },

  tests = {
    { name = "320 all-reduces of 20 us a step, a fifth of the time",
      facts = { window = { device_time = 2e9 }, steps = { count = 10 },
                comm = { count = 6400, median = 20e3, small = { per_step = 320, share = 0.97, lost = 4e8, remedy = true } } },
      expect = { per_step = 320, small = 0.97, share = 0.2, median = 20e3, per = "a step" },
      saving = { claims = 4e8 } },
    { name = "near miss: a dozen small collectives beside large buckets",
      facts = { window = { device_time = 2e9 }, steps = { count = 10 },
                comm = { count = 600, median = 2e6, small = { per_step = 12, share = 0.4, lost = 5e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: many, but hidden behind compute",
      facts = { window = { device_time = 2e9 }, steps = { count = 10 },
                comm = { count = 6400, median = 20e3, small = { per_step = 320, share = 0.97, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "one GPU",
      facts = { window = { device_time = 1e9 },
                comm = { count = 0, median = 0, small = { per_step = 0, share = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
