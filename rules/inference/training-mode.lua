-- Batch norm computes the statistics of each batch although no backward pass follows: the model was left in training mode.
-- Its results then depend on what else is in the batch, and dropout, too, is on.
return {
  id        = "inference/training-mode",
  title     = "Put the model into evaluation mode before inference",
  status    = "stable",
  since     = "0.2",
  kind      = "info",
  effort    = "flag",
  risk      = "wrong-results",
  knowledge = { "K-H22" },

  needs      = { "run.kind", "family.batch_norm_training.per_step", "family.batch_norm_training.share" },
  thresholds = { "min_share" },

  symptom = "Batch norm computes the statistics of each batch, as in training: {count:count} kernels {per:text}, {share:pct} of the compute time.",
  cause   = "The model is in training mode: results depend on the other samples of the batch, and dropout is on.",
  fixes   = {
    { action  = "Switch the model to evaluation mode, and record no gradients",
      snippet = "model.eval()\nwith torch.inference_mode():\n    y = model(x)", language = "python", ["for"] = { "pytorch" } },
    { action = "Call the model with training=False", ["for"] = { "tensorflow" } },
    { action = "Apply the running mean and variance of batch norm, not those of the batch" },
  },
  false_positives = "Forward passes of a training run whose backward pass was not captured, and Monte Carlo dropout.",
  references = { "pytorch/tuning-guide" },

  applies = function(f)
    return f.run.kind == "inference" and f.family.batch_norm_training.per_step > 0,
      "the run is no inference with batch norm in training mode"
  end,

  detect = function(f, t)
    local part = f.family.batch_norm_training.share
    if not at_least(part, t.min_share) then return nil end
    return { share = part, count = f.family.batch_norm_training.per_step }
  end,

  tests = {
    { name = "a fifth of the time in statistics that inference does not need",
      edges = { ["family.batch_norm_training.share"] = 0.01 },
      facts = { run = { kind = "inference" }, family = { batch_norm_training = { per_step = 53, share = 0.2 } } },
      expect = { share = 0.2, count = 53 } },
    { name = "near miss: a layer that always uses the statistics of the batch",
      facts = { run = { kind = "inference" }, family = { batch_norm_training = { per_step = 1, share = 0.001 } } },
      expect = "silent" },
    { name = "training", facts = { run = { kind = "training" }, family = { batch_norm_training = { per_step = 53, share = 0.2 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded", facts = { run = { kind = "inference" } }, expect = "cannot_tell" },
  },
}
