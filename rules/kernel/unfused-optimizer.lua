-- An optimizer step that launches several small kernels for each tensor of the model.
-- Multi-tensor (foreach) and fused optimizers do the same with a few launches and are not counted.
return {
  id        = "kernel/unfused-optimizer",
  title     = "Use a fused optimizer",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  priority  = 74,
  explains  = { "launch/tiny-kernels", "launch/host-op-overhead" },
  knowledge = { "K-H6" },
  effort    = "flag",

  needs      = { "kernel.optimizer.per_step", "kernel.optimizer.share", "kernel.optimizer.lost", "kernel.optimizer.remedy",
                 "window.device_time" },
  thresholds = { "min_share", "min_per_step" },

  symptom = "The optimizer launches {per_step:count} small kernels a step; they and the gaps between take {share:pct} of the time.",
  cause   = "The optimizer updates one tensor after the other with a handful of tiny kernels each. Launching them takes longer than the arithmetic.",
  fixes   = {
    { action = "Use the fused implementation: one kernel for many tensors",
      snippet = "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)", language = "python" },
    { action = "Where no fused one exists, use the multi-tensor implementation",
      snippet = "optimizer = torch.optim.SGD(model.parameters(), lr=lr, foreach=True)", language = "python" },
    { action = "Compile the step of an optimizer of your own",
      snippet = "@torch.compile(fullgraph=False)\ndef update():\n    optimizer.step()", language = "python" },
    { action = "Do the same for what surrounds it: clip with foreach=True, and set gradients to None instead of zero",
      snippet = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)\noptimizer.zero_grad(set_to_none=True)",
      language = "python" },
  },
  false_positives = "Models with few, large tensors, where each kernel is busy for long.",
  references = { "pytorch/optimizer-implementations", "pytorch/tuning-guide" },

  applies = function(f) return f.kernel.optimizer.per_step > 0, "no optimizer step with a kernel a tensor was seen" end,

  detect = function(f, t)
    local optimizer = f.kernel.optimizer
    local lost = share(optimizer.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) or not at_least(optimizer.per_step, t.min_per_step) then return nil end
    return { share = lost, per_step = optimizer.per_step, step_share = optimizer.share }
  end,

  saving = function(f)
    return { claims = f.kernel.optimizer.lost, remedy = f.kernel.optimizer.remedy, confidence = 0.8,
             basis = "the same update by few multi-tensor kernels" }
  end,

  tests = {
    { name = "1200 kernels for the update, a seventh of the time",
      facts = { window = { device_time = 1e9 },
                kernel = { optimizer = { per_step = 1200, share = 0.15, lost = 1.4e8, remedy = true } } },
      expect = { share = 0.14, per_step = 1200, step_share = 0.15 },
      saving = { claims = 1.4e8 } },
    { name = "near miss: a multi-tensor optimizer with a dozen kernels",
      facts = { window = { device_time = 1e9 },
                kernel = { optimizer = { per_step = 12, share = 0.05, lost = 5e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: many kernels, hidden in a long step",
      facts = { window = { device_time = 1e9 },
                kernel = { optimizer = { per_step = 400, share = 0.01, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "inference: no optimizer",
      facts = { window = { device_time = 1e9 }, kernel = { optimizer = { per_step = 0, share = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "no steps to look for it in", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
