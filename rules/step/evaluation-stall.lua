-- Evaluation inside the training loop that leaves the GPU idle: small batches, metrics on the host, a loader without
-- workers. Its ranges say what the stall is, so it comes before the regular distance between such steps.
return {
  id        = "step/evaluation-stall",
  title     = "Keep the GPU busy during evaluation",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 80,
  explains  = { "step/periodic-stall", "step/outlier", "step/jitter", "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-C6" },

  needs_loop     = true,
  loss           = "phase.evaluation",
  not_applicable = "no GPU gap falls into an evaluation range",
  evidence       = { "count" },
  thresholds     = { "min_share", "min_count" },

  symptom = "The GPU is idle for {share:pct} of the time during evaluation.",
  cause   = "Evaluation is often written more simply than training: the host computes the metrics batch by batch.",
  fixes   = {
    { action  = "Evaluate without gradients, with a larger batch, and keep results on the GPU until the end",
      snippet = [[with torch.inference_mode():
    for x, y in loader:
        correct += (model(x).argmax(-1) == y).sum()     # a tensor: no .item() here
print(correct.item() / total)]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Use loader workers and pinned memory in the evaluation loop, too", ["for"] = { "pytorch" } },
    { action = "Evaluate less often, or on other GPUs" },
  },
  false_positives = "A short evaluation that happens to be in the capture.",
  references = { "pytorch/tuning-guide" },

  saving = { confidence = 0.6, basis = "evaluation keeps the GPU busy" },

  tests = {
    { name = "metrics on the host",
      edges = { ["phase.evaluation.count"] = 2, ["phase.evaluation.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, phase = { evaluation = { count = 20, lost = 9e7, remedy = true } } },
      expect = { share = 0.09, count = 20 },
      saving = { claims = 9e7, confidence = 0.6 } },
    { name = "near miss: a busy evaluation",
      facts = { window = { device_time = 1e9 }, phase = { evaluation = { count = 20, lost = 7.5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one gap",
      facts = { window = { device_time = 1e9 }, phase = { evaluation = { count = 1, lost = 9e7, remedy = true } } },
      expect = "silent" },
    { name = "no evaluation",
      facts = { window = { device_time = 1e9 }, phase = { evaluation = { count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
