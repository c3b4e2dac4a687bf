-- Interpolation and grid sampling read and write all of a feature map and have slow backward passes with atomics; they
-- are rarely fused. How much could be won depends on the model, so this only informs.
return {
  id        = "kernel/upsampling",
  title     = "Make resampling cheaper: 16-bit types, nearest neighbor, or once at load time",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-C5", "K-H1" },

  measure        = "family.upsample",
  not_applicable = "no resampling kernels ran",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Interpolation and resampling take {share:pct} of the compute time: {count:count} kernels {per:text}.",
  cause   = "Resampling kernels on large feature maps are limited by memory, and their backward passes by atomic additions.",
  fixes   = {
    { action  = "Resample in half precision and channels-last layout",
      snippet = [[x = x.to(memory_format=torch.channels_last)
with torch.autocast("cuda", dtype=torch.bfloat16):   # GPUs without bf16 units: torch.float16
    y = F.interpolate(x, scale_factor=2, mode="nearest")]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Use nearest-neighbor resampling followed by a convolution, or a transposed convolution" },
    { action = "Resample inputs once, when data is loaded, instead of in the model" },
  },
  false_positives = "Models whose purpose is resampling.",
  references = { "pytorch/channels-last", "pytorch/compile" },

  tests = {
    { name = "a decoder with ten upsamplings",
      edges = { ["family.upsample.per_step"] = 2, ["family.upsample.share"] = 0.08 },
      facts = { family = { upsample = { per_step = 20, share = 0.3 } } },
      expect = { share = 0.3, count = 20 } },
    { name = "near miss: one small resize",
      facts = { family = { upsample = { per_step = 20, share = 0.02 } } },
      expect = "silent" },
    { name = "near miss: one resize a step",
      facts = { family = { upsample = { per_step = 1, share = 0.3 } } },
      expect = "silent" },
    { name = "nothing is resampled",
      facts = { family = { upsample = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
