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
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-H6" },

  loss           = "family.foreach",
  not_applicable = "no multi-tensor kernels ran",
  evidence       = { count = "per_step" },
  needs          = { "family.foreach_update.per_step" },
  optional       = { "run.optimizer" },
  thresholds     = { "min_share", "min_count", "min_updates" },

  symptom = "Updating parameters in several passes takes {share:pct} of the time: {count:count} multi-tensor kernels {per:text}.",
  cause   = "The update is a chain of multi-tensor kernels, and each of them reads and writes all parameters or states. Multi-tensor kernels that clip gradients are counted as well.",
  fixes   = {
    { reason = "fused", action  = "Use the fused optimizer",
      snippet = "optimizer = torch.optim.{optimizer:function}(model.parameters(), lr=1e-3, fused=True)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Compile the update",
      snippet = "step = torch.compile(optimizer.step)",
      language = "python", ["for"] = { "pytorch", "training" } },
  },
  false_positives = "Optimizers without a fused form.",
  references = { "pytorch/optimizer-implementations" },

  -- Clipping and averages of weights are such kernels, too, and have no fused form of an optimizer.
  detect = function(f, t, e)
    if not at_least(f.family.foreach_update.per_step, t.min_updates) then return nil end
    e.optimizer = f.run.optimizer or "AdamW"
    e.reason = (e.optimizer == "Adam" or e.optimizer == "AdamW" or e.optimizer == "SGD") and "fused" or "unfused"
    return e
  end,

  saving = { remedy = "halved", confidence = 0.5, basis = "half of the time of these kernels is gone" },

  tests = {
    { name = "an unfused AdamW",
      edges = { ["family.foreach.lost"] = 3e7, ["family.foreach.per_step"] = 3, ["family.foreach_update.per_step"] = 2 },
      facts = { window = { device_time = 1e9 }, family = { foreach = { per_step = 30, lost = 9e7, halved = true }, foreach_update = { per_step = 8 } } },
      expect = { share = 0.09, count = 30 },
      saving = { claims = 9e7, confidence = 0.5 } },
    { name = "an optimizer without a fused form",
      facts = { window = { device_time = 1e9 }, run = { optimizer = "RAdam" },
                family = { foreach = { per_step = 30, lost = 9e7, halved = true }, foreach_update = { per_step = 8 } } },
      expect = { reason = "unfused" } },
    { name = "near miss: a small model",
      facts = { window = { device_time = 1e9 }, family = { foreach = { per_step = 30, lost = 7.5e6, halved = true }, foreach_update = { per_step = 8 } } },
      expect = "silent" },
    { name = "near miss: clipping and averages of weights, beside a fused optimizer",
      facts = { window = { device_time = 1e9 }, family = { foreach = { per_step = 30, lost = 9e7, halved = true }, foreach_update = { per_step = 0 } } },
      expect = "silent" },
    { name = "near miss: one kernel a step",
      facts = { window = { device_time = 1e9 }, family = { foreach = { per_step = 1.5, lost = 9e7, halved = true }, foreach_update = { per_step = 8 } } },
      expect = "silent" },
    { name = "the optimizer is fused, or another one",
      facts = { window = { device_time = 1e9 }, family = { foreach = { per_step = 0, lost = 0, halved = true }, foreach_update = { per_step = 0 } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
