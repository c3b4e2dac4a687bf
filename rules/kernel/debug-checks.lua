-- Searches for NaN or infinity and device-side assertions: left over from debugging, or switched on by anomaly mode,
-- which shows as checks inside the backward pass itself, and keeps a stack trace of each operator.
return {
  id        = "kernel/debug-checks",
  title     = "Remove checks for NaN and infinity from the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 62,
  explains  = { "kernel/hot", "step/low-mfu", "sync/item-in-loop", "sync/backward-wait", "sync/optimizer-wait" },
  knowledge = { "K-H12", "K-A5" },

  loss           = "checks",
  not_applicable = "nothing checks for wrong values",
  evidence       = { count = "per_step", reads = "reads" },
  needs          = { "checks.anomaly_mode" },
  optional       = { "run.trains", "checks.where" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Checks for NaN and infinity, with the gaps around them, span {share:pct} of the time: {count:count} {per:text}{reads_text:text}{mode_text:text}.{where_text:text}",
  cause   = "Each check reads a whole tensor, and many of them copy the answer to the host and wait for it.",
  fixes   = {
    { reason = "anomaly", action = "Turn anomaly detection off after debugging",
      snippet = "torch.autograd.set_detect_anomaly(False)",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "forward", action = "Remove these checks from the forward pass, or let only a debug run make them",
      snippet = "if debug and torch.isnan(x).any():\n    raise RuntimeError(\"x has NaN\")", language = "python", ["for"] = { "pytorch" } },
    { reason = "own", action = "Where these are gradients, leave them to the gradient scaler, which tests all at once, or test their norm: it is not finite if any of them is not",
      snippet = "norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)   # a tensor: read it every hundred steps",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "!forward", action  = "Check the loss only every hundred steps",
      snippet = [[if step % 100 == 0 and not torch.isfinite(loss):
    raise RuntimeError("loss is not finite")]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Count wrong values on the GPU and read the counter once at the end" },
  },
  false_positives = "The gradient scaler of mixed precision, which must check once per step.",
  references = { "pytorch/amp", "pytorch/tuning-guide" },

  detect = function(f, t, e)
    e.reads_text = e.reads > 0 and ", and the host reads " .. in_words(e.reads, "count") .. (e.reads == 1 and " answer" or " answers") or ""
    -- Without a backward pass there is no gradient and no loss that could be checked.
    e.reason = f.checks.anomaly_mode and "anomaly" or f.run.trains == false and "forward" or "own"
    e.where_text = f.checks.where and " Most are made in " .. f.checks.where .. "." or ""
    e.mode_text = f.checks.anomaly_mode and "; autograd makes most of them, since its anomaly mode is on" or ""
    return e
  end,

  saving = { confidence = 0.6, basis = "the checks are gone" },

  tests = {
    { name = "anomaly mode is on",
      edges = { ["checks.lost"] = 2e7, ["checks.per_step"] = 4 },
      facts = { window = { device_time = 1e9 }, checks = { per_step = 40, reads = 40, anomaly_mode = true, lost = 6e7, remedy = true } },
      expect = { share = 0.06, count = 40, reads_text = ", and the host reads 40 answers",
                 mode_text = "; autograd makes most of them, since its anomaly mode is on" },
      saving = { claims = 6e7, confidence = 0.6 } },
    { name = "kernels that are known by their names",
      facts = { window = { device_time = 1e9 }, checks = { per_step = 40, reads = 0, anomaly_mode = false, lost = 6e7, remedy = true } },
      expect = { reads_text = "", mode_text = "" } },
    { name = "a forward pass that checks what its layers compute",
      facts = { window = { device_time = 1e9 }, run = { trains = false },
                checks = { per_step = 20, reads = 20, anomaly_mode = false, lost = 8e7, remedy = true, where = "model.py(143): forward" } },
      expect = { reason = "forward", where_text = " Most are made in model.py(143): forward." } },
    { name = "near miss: a cheap check of the loss",
      facts = { window = { device_time = 1e9 }, checks = { per_step = 40, reads = 0, anomaly_mode = false, lost = 5e6, remedy = true } },
      expect = "silent" },
    { name = "near miss: one check a step",
      facts = { window = { device_time = 1e9 }, checks = { per_step = 2, reads = 2, anomaly_mode = false, lost = 6e7, remedy = true } },
      expect = "silent" },
    { name = "nothing is checked",
      facts = { window = { device_time = 1e9 }, checks = { per_step = 0, reads = 0, anomaly_mode = false, lost = 0, remedy = true } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
