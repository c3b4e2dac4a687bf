-- The foreach form of an optimizer passes over all parameters several times (scale, add, square, divide ...); the fused
-- form does it once.
return {
  id        = "kernel/foreach-optimizer",
  title     = "Use the fused form of the optimizer",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 66,
  explains  = { "kernel/hot" },
  knowledge = { "K-H6" },

  loss           = "family.foreach",
  not_applicable = "no multi-tensor kernels ran",
  evidence       = { count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Updating parameters in several passes takes {share:pct} of the GPU time: {count:count} multi-tensor kernels {per:text}.",
  cause   = "The update is a chain of multi-tensor kernels. Each of them reads and writes all parameters or states.",
  fixes   = {
    { action  = "Use the fused optimizer",
      snippet = "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Compile the update",
      snippet = "step = torch.compile(optimizer.step)",
      language = "python", ["for"] = { "pytorch", "training" } },
  },
  false_positives = "Optimizers without a fused form.",
  references = { "pytorch/optimizer-implementations" },

  saving = { remedy = "halved", confidence = 0.5, basis = "half of the time of these kernels" },

  tests = {
    { name = "an unfused AdamW",
      edges = { ["family.foreach.lost"] = 3e7, ["family.foreach.per_step"] = 3 },
      facts = { window = { device_time = 1e9 }, family = { foreach = { per_step = 30, lost = 9e7, halved = true } } },
      expect = { share = 0.09, count = 30 },
      saving = { claims = 9e7, confidence = 0.5 } },
    { name = "near miss: a small model",
      facts = { window = { device_time = 1e9 }, family = { foreach = { per_step = 30, lost = 7.5e6, halved = true } } },
      expect = "silent" },
    { name = "near miss: one kernel a step",
      facts = { window = { device_time = 1e9 }, family = { foreach = { per_step = 1.5, lost = 9e7, halved = true } } },
      expect = "silent" },
    { name = "the optimizer is fused, or another one",
      facts = { window = { device_time = 1e9 }, family = { foreach = { per_step = 0, lost = 0, halved = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
