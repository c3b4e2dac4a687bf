-- Searches for NaN or infinity and device-side assertions: left over from debugging, or switched on by anomaly mode.
return {
  id        = "kernel/debug-checks",
  title     = "Remove checks for NaN and infinity from the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 62,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-H12", "K-A5" },

  loss           = "family.checks",
  not_applicable = "no kernels check for wrong values",
  evidence       = { count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Checks for NaN and infinity take {share:pct} of the time: {count:count} kernels {per:text}.",
  cause   = "Each check reads a whole tensor, and many of them copy the answer to the host and wait for it.",
  fixes   = {
    { action  = "Turn anomaly detection off after debugging",
      snippet = "torch.autograd.set_detect_anomaly(False)",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Check the loss only every hundred steps",
      snippet = [[if step % 100 == 0 and not torch.isfinite(loss):
    raise RuntimeError("loss is not finite")]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Count wrong values on the GPU and read the counter at the end of an epoch" },
  },
  false_positives = "The gradient scaler of mixed precision, which must check once per step.",
  references = { "pytorch/amp", "pytorch/tuning-guide" },

  saving = { confidence = 0.6, basis = "the checks are gone" },

  tests = {
    { name = "anomaly mode is on",
      edges = { ["family.checks.lost"] = 2e7, ["family.checks.per_step"] = 4 },
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
