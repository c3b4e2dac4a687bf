-- Double-precision matrix kernels on a GPU whose FP64 rate is a small fraction of its FP32 rate (1/32 or 1/64 on cards
-- for graphics and inference).
return {
  id        = "precision/fp64-on-slow-units",
  title     = "Avoid double precision on this GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "code",
  priority  = 84,
  explains  = { "kernel/hot" },
  knowledge = { "K-K13", "K-H1" },

  needs      = { "window.device_time", "precision.fp64.count", "precision.fp64.lost", "precision.fp64.remedy", "hw.fp64_ratio" },
  thresholds = { "min_share", "min_count", "max_ratio" },

  symptom = "{share:pct} of the GPU time is {count:count} double-precision matrix kernels a step; this GPU computes them at {ratio:pct} of its FP32 rate.",
  cause   = "A NumPy array, a literal or a default type made tensors double.",
  fixes   = {
    { action  = "Convert where data enters",
      snippet = [[x = torch.as_tensor(array, dtype=torch.float32, device="cuda")]],
      language = "python" },
    { action  = "In C++ write float literals",
      snippet = "y = 0.5f * x;             // 0.5 is double",
      language = "cpp" },
    { action = "Where double precision is needed, use a GPU built for it, or mixed-precision refinement" },
  },
  false_positives = "Programs that need double precision.",
  references = { "cuda-best-practices/guide" },

  applies = function(f)
    return f.precision.fp64.count > 0, "there is none of it"
  end,

  detect = function(f, t)
    local lost = share(f.precision.fp64.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.precision.fp64.count, t.min_count) then return nil end
    if not at_most(f.hw.fp64_ratio, t.max_ratio) then return nil end
    return { share = lost, count = f.precision.fp64.count, ratio = f.hw.fp64_ratio }
  end,

  saving = function(f)
    return { claims = f.precision.fp64.lost, remedy = f.precision.fp64.remedy, confidence = 0.6, basis = "half of their time at least, in FP32" }
  end,

  tests = {
    { name = "dgemm on an RTX 4090",
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 20, lost = 9e7, remedy = true } }, hw = { fp64_ratio = 0.015625 } },
      expect = { share = 0.09, count = 20 },
      saving = { claims = 9e7, confidence = 0.6 } },
    { name = "near miss: a small solve",
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 20, lost = 7.5e6, remedy = true } }, hw = { fp64_ratio = 0.015625 } },
      expect = "silent" },
    { name = "near miss: few kernels",
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 1, lost = 9e7, remedy = true } }, hw = { fp64_ratio = 0.015625 } },
      expect = "silent" },
    { name = "no double-precision kernels ran",
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 0, lost = 0, remedy = true } }, hw = { fp64_ratio = 0.015625 } },
      expect = "not_applicable" },
    { name = "near miss: an A100, which is built for it",
      facts = { window = { device_time = 1e9 }, precision = { fp64 = { count = 20, lost = 5e8, remedy = true } }, hw = { fp64_ratio = 0.5 } },
      expect = "silent" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
