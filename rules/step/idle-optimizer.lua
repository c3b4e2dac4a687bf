-- The GPU idles inside the optimizer phase: the update is a loop over parameters in Python, or waits for a value.
return {
  id        = "step/idle-optimizer",
  title     = "Keep the GPU busy during the optimizer step",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "code",
  priority  = 24,
  knowledge = { "K-H6", "K-N19" },

  needs_loop = true,
  loss       = "phase.optimizer",
  evidence   = { "count" },
  optional   = { "run.optimizer" },
  thresholds = { "min_share", "min_count" },

  symptom = "The GPU is idle for {share:pct} of the time inside the optimizer phase.",
  cause   = "The host prepares and launches the update piece by piece.",
  fixes   = {
    { action  = "Use a fused or multi-tensor optimizer",
      snippet = "optimizer = torch.optim.{optimizer:function}(params, lr=1e-3, {form:function}=True)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Compile the update",
      snippet = "step = torch.compile(optimizer.step)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Run the update inside the backward pass, parameter by parameter" },
  },
  false_positives = "Updates on the CPU (offloaded optimizers).",
  references = { "pytorch/optimizer-implementations" },

  detect = function(f, t, e)
    e.optimizer = f.run.optimizer or "AdamW"
    -- These of PyTorch's optimizers have a fused form on GPUs; others have a multi-tensor form.
    local fused = e.optimizer == "Adam" or e.optimizer == "AdamW" or e.optimizer == "SGD"
    e.form = fused and "fused" or "foreach"
    return e
  end,

  saving = { confidence = 0.4, basis = "the optimizer step keeps the GPU busy" },

  tests = {
    { name = "a loop over parameters",
      edges = { ["phase.optimizer.count"] = 3, ["phase.optimizer.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 }, phase = { optimizer = { count = 30, lost = 1.5e8, remedy = true } } },
      expect = { share = 0.15, count = 30, optimizer = "AdamW", form = "fused" },
      saving = { claims = 1.5e8, confidence = 0.4 } },
    { name = "near miss: a fused update",
      facts = { window = { device_time = 1e9 }, phase = { optimizer = { count = 30, lost = 1.25e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one gap",
      facts = { window = { device_time = 1e9 }, phase = { optimizer = { count = 1.5, lost = 1.5e8, remedy = true } } },
      expect = "silent" },
    { name = "no gap on the GPU falls into the optimizer phase",
      facts = { window = { device_time = 1e9 }, phase = { optimizer = { count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
