-- Gradient scaling (FP16) unscales and checks all gradients and reads a flag on the host in each step. bfloat16 has the
-- range of FP32 and needs none of it.
return {
  id        = "precision/loss-scaling",
  title     = "Train in bfloat16, which needs no loss scaling",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-K13" },

  measure        = "family.loss_scaling",
  not_applicable = "gradients are not scaled",
  evidence       = { "share", count = "per_step" },
  needs          = { "hw.compute_capability" },
  thresholds     = { "min_per_step", "min_capability" },

  symptom = "Gradients are scaled for FP16: {count:count} kernels {per:text}, {share:pct} of the compute time, and a wait on the host.",
  cause   = "The training loop uses FP16 with a gradient scaler, on a GPU that supports bfloat16.",
  fixes   = {
    { action  = "Use bfloat16 without a scaler",
      snippet = [[with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(x)
loss.backward()]],
      language = "python", ["for"] = { "pytorch", "training" } },
  },
  false_positives = "Models that need the finer mantissa of FP16.",
  references = { "pytorch/amp" },

  detect = function(f, t, e)
    if not at_least(f.hw.compute_capability, t.min_capability) then return nil end
    return e
  end,

  tests = {
    { name = "a scaler on an A100",
      edges = { ["family.loss_scaling.per_step"] = 1 },
      facts = { family = { loss_scaling = { per_step = 3, share = 0.02 } }, hw = { compute_capability = 8 } },
      expect = { count = 3 } },
    { name = "near miss: on a V100, which needs it",
      facts = { family = { loss_scaling = { per_step = 3, share = 0.02 } }, hw = { compute_capability = 7 } },
      expect = "silent" },
    { name = "no scaler",
      facts = { family = { loss_scaling = { per_step = 0, share = 0 } }, hw = { compute_capability = 8 } },
      expect = "not_applicable" },
    { name = "an unknown device",
      facts = { family = { loss_scaling = { per_step = 3, share = 0.02 } } },
      expect = "cannot_tell" },
  },
}
