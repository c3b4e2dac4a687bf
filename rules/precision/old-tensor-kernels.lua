-- Half-precision kernels with the tensor-core instructions of Volta or Turing on a newer GPU: they run, but at a part of
-- the rate, and without its asynchronous copies.
return {
  id        = "precision/old-tensor-kernels",
  title     = "Use kernels built for this GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 65,
  explains  = { "kernel/hot", "precision/tensor-idle", "step/low-mfu" },
  knowledge = { "K-K13", "K-H1" },

  loss       = "family.old_tensor",
  evidence   = { count = "per_step" },
  needs      = { "hw.compute_capability" },
  thresholds = { "min_share", "min_count", "min_capability" },

  symptom = "Tensor-core kernels that were written for an older GPU take {share:pct} of the time: {count:count} {per:text}.",
  cause   = "The library was built before this GPU existed, or a shape or layout has no newer kernel.",
  fixes   = {
    { action = "Update CUDA, cuDNN and the framework" },
    { action = "Rebuild your own kernels for this GPU (CUTLASS on Hopper: -DCUTLASS_NVCC_ARCHS=90a)", ["for"] = { "c++" } },
    { action  = "Make sizes multiples of 8, so that newer kernels apply",
      snippet = "vocabulary = (vocabulary + 63) // 64 * 64",
      language = "python", ["for"] = { "python" } },
  },
  false_positives = "Small layers for which the library picks them on purpose.",
  references = { "nvidia/tensor-core-alignment" },

  detect = function(f, t, e)
    if not at_least(f.hw.compute_capability, t.min_capability) then return nil end
    return e
  end,

  saving = { remedy = "halved", confidence = 0.4, basis = "half of the time of these kernels is gone" },

  tests = {
    { name = "Volta kernels on an H100",
      edges = { ["family.old_tensor.lost"] = 8e7, ["family.old_tensor.per_step"] = 2 },
      facts = { window = { device_time = 1e9 }, family = { old_tensor = { per_step = 20, lost = 2.4e8, halved = true } }, hw = { compute_capability = 9 } },
      expect = { share = 0.24, count = 20 },
      saving = { claims = 2.4e8, confidence = 0.4 } },
    { name = "near miss: one small layer",
      facts = { window = { device_time = 1e9 }, family = { old_tensor = { per_step = 20, lost = 2e7, halved = true } }, hw = { compute_capability = 9 } },
      expect = "silent" },
    { name = "near miss: few kernels",
      facts = { window = { device_time = 1e9 }, family = { old_tensor = { per_step = 1, lost = 2.4e8, halved = true } }, hw = { compute_capability = 9 } },
      expect = "silent" },
    { name = "no such kernels",
      facts = { window = { device_time = 1e9 }, family = { old_tensor = { per_step = 0, lost = 0, halved = true } }, hw = { compute_capability = 9 } },
      expect = "not_applicable" },
    { name = "near miss: on a V100",
      facts = { window = { device_time = 1e9 }, family = { old_tensor = { per_step = 20, lost = 5e8, halved = true } }, hw = { compute_capability = 7 } },
      expect = "silent" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
