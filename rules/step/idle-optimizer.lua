-- The GPU idles inside the optimizer phase: the update is a loop over parameters in Python, or waits for a value.
-- Of PyTorch's optimizers, these have a fused form on GPUs, the others a multi-tensor form.
local forms = { Adam = "fused", AdamW = "fused", SGD = "fused", Adagrad = "foreach", Adadelta = "foreach", Adamax = "foreach",
                NAdam = "foreach", RAdam = "foreach", RMSprop = "foreach", Rprop = "foreach", ASGD = "foreach" }
-- These run on the CPU.
local on_cpu = { DeepSpeedCPUAdam = true, DeepSpeedCPUAdagrad = true, DeepSpeedCPULion = true, CPUAdam = true, HybridAdam = true }

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
  cause   = "{why:text}",
  fixes   = {
    { reason = "cpu", action = "Run the optimizer on the GPU: turn offloading off, if the states of the optimizer fit there",
      snippet = '# DeepSpeed: no "offload_optimizer" in "zero_optimization"; then DeepSpeed uses its fused Adam', language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "cpu", action = "If the optimizer must stay on the CPU, update the weights less often: accumulate gradients over several batches", ["for"] = { "training" } },
    { reason = "known", action  = "Use a fused or multi-tensor optimizer",
      snippet = "optimizer = torch.optim.{optimizer:function}(params, lr=1e-3, {form:function}=True)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "!cpu", action  = "Compile the update",
      snippet = "step = torch.compile(optimizer.step)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "!cpu", action = "Run the update inside the backward pass, parameter by parameter" },
  },
  false_positives = "Updates on the CPU (offloaded optimizers).",
  references = { "pytorch/optimizer-implementations" },

  detect = function(f, t, e)
    e.optimizer = f.run.optimizer or "AdamW"
    e.form = forms[e.optimizer] or ""
    e.reason = on_cpu[e.optimizer] and "cpu" or forms[e.optimizer] and "known" or "own"
    e.why = e.reason == "cpu" and "The optimizer runs on the CPU (" .. e.optimizer .. "): meanwhile, the GPU has nothing to do."
            or "The host prepares and launches the update piece by piece."
    return e
  end,

  saving = { confidence = 0.4, basis = "the optimizer step keeps the GPU busy" },

  tests = {
    { name = "a loop over parameters",
      edges = { ["phase.optimizer.count"] = 3, ["phase.optimizer.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 }, phase = { optimizer = { count = 30, lost = 1.5e8, remedy = true } } },
      expect = { share = 0.15, count = 30, optimizer = "AdamW", form = "fused" },
      saving = { claims = 1.5e8, confidence = 0.4 } },
    { name = "an optimizer that runs on the CPU",
      facts = { window = { device_time = 1e9 }, run = { optimizer = "DeepSpeedCPUAdam" }, phase = { optimizer = { count = 30, lost = 7e8, remedy = true } } },
      expect = { reason = "cpu", why = "The optimizer runs on the CPU (DeepSpeedCPUAdam): meanwhile, the GPU has nothing to do." } },
    { name = "an optimizer that PyTorch does not have",
      facts = { window = { device_time = 1e9 }, run = { optimizer = "Shampoo" }, phase = { optimizer = { count = 30, lost = 1.5e8, remedy = true } } },
      expect = { reason = "own" } },
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
