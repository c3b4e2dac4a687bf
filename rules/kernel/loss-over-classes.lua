-- Log-softmax and cross-entropy over a large vocabulary: the logits (tokens x classes) are written, read, cast and
-- written again, often in FP32.
return {
  id        = "kernel/loss-over-classes",
  title     = "Compute the loss over many classes in chunks",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 58,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-C5", "K-H6" },

  loss           = "family.cross_entropy",
  not_applicable = "no kernels compute a loss over classes",
  evidence       = { count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "The loss over classes takes {share:pct} of the time: {count:count} kernels {per:text}.",
  cause   = "The logits of all tokens are stored and read several times; with a vocabulary of 100,000 and more, they are the largest tensor of the step.",
  fixes   = {
    { action  = "Use a fused loss that never stores all logits",
      snippet = [[# Liger Kernel: the last linear layer and the loss, in chunks
loss = LigerFusedLinearCrossEntropyLoss()(lm_head.weight, hidden, labels)]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Let the compiler fuse the passes",
      snippet = "loss_fn = torch.compile(loss_fn)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Compute the loss in chunks of tokens with recomputation, and drop ignored tokens before the last layer" },
  },
  false_positives = "Small models with a large vocabulary, which always pay this cost.",
  references = { "pytorch/compile" },

  saving = { remedy = "halved", confidence = 0.5, basis = "half of the time of these kernels is gone" },

  tests = {
    { name = "a loss over 128 000 classes",
      edges = { ["family.cross_entropy.lost"] = 8e7, ["family.cross_entropy.per_step"] = 2 },
      facts = { window = { device_time = 1e9 }, family = { cross_entropy = { per_step = 20, lost = 2.4e8, halved = true } } },
      expect = { share = 0.24, count = 20 },
      saving = { claims = 2.4e8, confidence = 0.5 } },
    { name = "near miss: a loss over 1000 classes",
      facts = { window = { device_time = 1e9 }, family = { cross_entropy = { per_step = 20, lost = 2e7, halved = true } } },
      expect = "silent" },
    { name = "near miss: one kernel a step",
      facts = { window = { device_time = 1e9 }, family = { cross_entropy = { per_step = 1, lost = 2.4e8, halved = true } } },
      expect = "silent" },
    { name = "no such loss",
      facts = { window = { device_time = 1e9 }, family = { cross_entropy = { per_step = 0, lost = 0, halved = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
