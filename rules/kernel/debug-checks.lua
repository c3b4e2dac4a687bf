-- Searches for NaN or infinity and device-side assertions: left over from debugging, or switched on by anomaly mode.
return {
  id        = "kernel/debug-checks",
  title     = "Take checks for wrong values out of the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "code",
  priority  = 62,
  explains  = { "kernel/hot" },
  knowledge = { "K-H12", "K-A5" },

  needs      = { "window.device_time", "family.checks.per_step", "family.checks.lost", "family.checks.remedy" },
  thresholds = { "min_share", "min_count" },

  symptom = "{count:count} kernels a step look for wrong values; they take {share:pct} of the GPU time.",
  cause   = "Each check reads a whole tensor, and many of them copy the answer to the host and wait for it.",
  fixes   = {
    { action  = "Switch anomaly detection off after debugging",
      snippet = "torch.autograd.set_detect_anomaly(False)",
      language = "python" },
    { action  = "Check the loss every hundred steps only",
      snippet = [[if step % 100 == 0 and not torch.isfinite(loss):
    raise RuntimeError("loss is not finite")]],
      language = "python" },
    { action = "Count wrong values on the GPU and read the counter at the end of an epoch" },
  },
  false_positives = "The gradient scaler of mixed precision, which has to look once a step.",
  references = { "pytorch/amp", "pytorch/tuning-guide" },

  applies = function(f)
    return f.family.checks.per_step > 0, "no such kernels ran"
  end,

  detect = function(f, t)
    local lost = share(f.family.checks.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.family.checks.per_step, t.min_count) then return nil end
    return { share = lost, count = f.family.checks.per_step }
  end,

  saving = function(f)
    return { claims = f.family.checks.lost, remedy = f.family.checks.remedy, confidence = 0.6, basis = "the checks are gone" }
  end,

  tests = {
    { name = "anomaly mode is on",
      facts = { window = { device_time = 1e9 }, family = { checks = { per_step = 40, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 40 },
      saving = { claims = 6e7, confidence = 0.6 } },
    { name = "near miss: a cheap check of the loss",
      facts = { window = { device_time = 1e9 }, family = { checks = { per_step = 40, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one check a step",
      facts = { window = { device_time = 1e9 }, family = { checks = { per_step = 2, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "nothing is checked",
      facts = { window = { device_time = 1e9 }, family = { checks = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
