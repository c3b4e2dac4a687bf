-- Dropout runs although no backward pass follows: the model was left in training mode. What it answers is then random, and
-- each of these kernels reads and writes a whole tensor for nothing.
return {
  id        = "inference/active-dropout",
  title     = "Put the model into evaluation mode, which turns dropout off",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "flag",
  priority  = 75,
  explains  = { "kernel/dropout-random" },
  knowledge = { "K-H22" },

  loss           = "family.dropout_mask",
  not_applicable = "no kernels apply dropout",
  evidence       = { count = "per_step" },
  optional       = { "run.kind" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Dropout is on during inference: {count:count} kernels {per:text}, {share:pct} of the time. The model's results are random.",
  cause   = "The model is in training mode, or dropout is called as a function that does not ask for the mode.",
  fixes   = {
    { action  = "Switch the model to evaluation mode, and record no gradients",
      snippet = "model.eval()\nwith torch.inference_mode():\n    y = model(x)", language = "python", ["for"] = { "pytorch" } },
    { action  = "Pass the mode where dropout is called as a function",
      snippet = "x = F.dropout(x, p=0.1, training=model.training)", language = "python", ["for"] = { "pytorch" } },
    { action = "Call the model with training=False", ["for"] = { "tensorflow" } },
  },
  false_positives = "Forward passes of a training run whose backward pass was not captured, and Monte Carlo dropout.",
  references = { "pytorch/tuning-guide" },

  detect = function(f, t, e) return f.run.kind == "inference" and e or nil end,

  saving = { confidence = 0.6, basis = "dropout is gone" },

  tests = {
    { name = "dropout behind each layer of a model that serves",
      edges = { ["family.dropout_mask.lost"] = 5e6, ["family.dropout_mask.per_step"] = 2 },
      facts = { window = { device_time = 1e9 }, run = { kind = "inference" }, family = { dropout_mask = { per_step = 20, lost = 1.2e8, remedy = true } } },
      expect = { share = 0.12, count = 20 },
      saving = { claims = 1.2e8, confidence = 0.6 } },
    { name = "near miss: one kernel a step",
      facts = { window = { device_time = 1e9 }, run = { kind = "inference" }, family = { dropout_mask = { per_step = 1, lost = 1e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: training",
      facts = { window = { device_time = 1e9 }, run = { kind = "training" }, family = { dropout_mask = { per_step = 20, lost = 1.2e8, remedy = true } } },
      expect = "silent" },
    { name = "no dropout",
      facts = { window = { device_time = 1e9 }, run = { kind = "inference" }, family = { dropout_mask = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
