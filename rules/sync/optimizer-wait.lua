-- Waits of the host inside the optimizer phase: gradient clipping that checks for infinity, the gradient scaler, a
-- learning rate or a norm that is printed.
return {
  id        = "sync/optimizer-wait",
  title     = "Remove waits for the GPU from the optimizer step",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  topic     = "waits",
  effort    = "code",
  priority  = 62,
  explains  = { "sync/item-in-loop", "sync/device-sync-in-loop", "sync/host-busy-wait", "transfer/exposed-copy" },
  knowledge = { "K-C6", "K-H12" },

  needs_loop = true,
  loss       = "sync.optimizer",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "In the optimizer phase, the host waits for the GPU {count:count} times {per:text}. Around these waits, the GPU computes nothing for {share:pct} of the time.",
  cause   = "The host reads a value of the update: a norm, a flag for infinity, a learning rate.",
  fixes   = {
    { action  = "Keep gradient clipping on the GPU",
      snippet = "torch.nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=False)     # True waits",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Train in bfloat16, which needs no gradient scaler",
      snippet = [[with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(x)]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Read norms every hundred steps, one step late" },
  },
  false_positives = "A scaler that must skip steps: one wait per step.",
  references = { "pytorch/clip-grad-sync", "pytorch/amp" },

  saving = { confidence = 0.6, basis = "the host does not wait inside the optimizer step" },

  tests = {
    { name = "clip_grad_norm_ that reads the norm",
      edges = { ["sync.optimizer.lost"] = 5e6, ["sync.optimizer.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, sync = { optimizer = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.6 } },
    { name = "near miss: behind a full queue",
      facts = { window = { device_time = 1e9 }, sync = { optimizer = { per_step = 10, lost = 4e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, sync = { optimizer = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "the optimizer phase has no waits",
      facts = { window = { device_time = 1e9 }, sync = { optimizer = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
