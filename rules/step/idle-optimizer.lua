-- The GPU idles inside the optimizer phase: the update is a loop over parameters in Python, or waits for a value.
return {
  id        = "step/idle-optimizer",
  title     = "Keep the GPU busy during the update",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  scope     = "run",
  effort    = "code",
  priority  = 24,
  knowledge = { "K-H6", "K-N19" },

  needs      = { "window.device_time", "phase.optimizer.count", "phase.optimizer.lost", "phase.optimizer.remedy" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_count" },

  symptom = "The GPU idles {share:pct} of its time inside the optimizer phase.",
  cause   = "The host prepares and launches the update piece by piece.",
  fixes   = {
    { action  = "Use a fused or multi-tensor optimizer",
      snippet = "optimizer = torch.optim.AdamW(params, lr=1e-3, fused=True)",
      language = "python" },
    { action  = "Or compile the update",
      snippet = "step = torch.compile(optimizer.step)",
      language = "python" },
    { action = "Run the update inside the backward pass, parameter by parameter" },
  },
  false_positives = "Updates on the CPU (offloaded optimizers).",
  references = { "pytorch/optimizer-implementations" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.phase.optimizer.count > 0, "there is none of it"
  end,

  detect = function(f, t)
    local lost = share(f.phase.optimizer.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.phase.optimizer.count, t.min_count) then return nil end
    return { share = lost, count = f.phase.optimizer.count }
  end,

  saving = function(f)
    return { claims = f.phase.optimizer.lost, remedy = f.phase.optimizer.remedy, confidence = 0.4, basis = "the update does not hold the GPU up" }
  end,

  tests = {
    { name = "a loop over parameters",
      facts = { window = { device_time = 1e9 }, phase = { optimizer = { count = 30, lost = 1.5e8, remedy = true } } },
      expect = { share = 0.15, count = 30 },
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
