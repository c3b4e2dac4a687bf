-- bfloat16 matrix kernels on a GPU older than compute capability 8.0: there are no units for it, so values are widened
-- and computed in FP32.
return {
  id        = "precision/bf16-emulated",
  title     = "Use FP16 on GPUs without bfloat16 units",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 83,
  explains  = { "kernel/hot", "precision/fp32-gemm", "step/low-mfu" },
  knowledge = { "K-K13", "K-H1" },

  loss       = "precision.bf16",
  evidence   = { "count" },
  needs      = { "hw.compute_capability" },
  thresholds = { "min_share", "min_count", "max_capability" },

  symptom = "Matrix kernels in bfloat16 take {share:pct} of the time, on a GPU without units for them: {count:count} {per:text}.",
  cause   = "Tensor cores before Ampere support FP16 only. bfloat16 is emulated.",
  fixes   = {
    { action = "Use FP16", snippet = "model = model.to(torch.float16)", language = "python", ["for"] = { "pytorch", "inference" } },
    { action  = "Use FP16 with a gradient scaler",
      snippet = [[scaler = torch.amp.GradScaler("cuda")
with torch.autocast("cuda", dtype=torch.float16):
    loss = loss_fn(model(x), y)
scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Compute in FP16 instead of bf16; in training, scale the loss" },
  },
  false_positives = "Inference of models that overflow in FP16.",
  references = { "pytorch/bf16-emulation", "pytorch/amp" },

  detect = function(f, t, e)
    if not at_most(f.hw.compute_capability, t.max_capability) then return nil end
    return e
  end,

  saving = { confidence = 0.5, basis = "these kernels take half the time on FP16 tensor cores" },

  tests = {
    { name = "a transformer in bfloat16 on a T4",
      edges = { ["precision.bf16.count"] = 2, ["precision.bf16.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, precision = { bf16 = { count = 20, lost = 9e7, remedy = true } }, hw = { compute_capability = 7.5 } },
      expect = { share = 0.09, count = 20 },
      saving = { claims = 9e7, confidence = 0.5 } },
    { name = "near miss: one small layer",
      facts = { window = { device_time = 1e9 }, precision = { bf16 = { count = 20, lost = 7.5e6, remedy = true } }, hw = { compute_capability = 7.5 } },
      expect = "silent" },
    { name = "near miss: few kernels",
      facts = { window = { device_time = 1e9 }, precision = { bf16 = { count = 1, lost = 9e7, remedy = true } }, hw = { compute_capability = 7.5 } },
      expect = "silent" },
    { name = "no bfloat16 kernels ran",
      facts = { window = { device_time = 1e9 }, precision = { bf16 = { count = 0, lost = 0, remedy = true } }, hw = { compute_capability = 7.5 } },
      expect = "not_applicable" },
    { name = "near miss: an A100",
      facts = { window = { device_time = 1e9 }, precision = { bf16 = { count = 20, lost = 5e8, remedy = true } }, hw = { compute_capability = 8 } },
      expect = "silent" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
