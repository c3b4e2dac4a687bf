-- Convolutions by im2col, by naive kernels or by plain depth-wise kernels: the library found no better one for shape,
-- stride, type or layout.
return {
  id        = "kernel/naive-convolution",
  title     = "Let the library choose a faster convolution algorithm",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 58,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-H1", "K-C5" },

  loss           = "family.naive_convolution",
  not_applicable = "no convolutions with a plain algorithm ran",
  evidence       = { count = "per_step" },
  optional       = { "roofline.rated.share" },
  thresholds     = { "min_share", "min_count", "max_rated_share" },

  symptom = "Convolutions with a plain algorithm take {share:pct} of the time: {count:count} kernels {per:text}.",
  cause   = "The library fell back to a kernel that copies patches or computes them one by one, without tensor cores.",
  fixes   = {
    { action  = "Let cuDNN measure its algorithms, if shapes stay the same",
      snippet = "torch.backends.cudnn.benchmark = True",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Use half precision and channels-last layout",
      snippet = [[model = model.to(memory_format=torch.channels_last)
with torch.autocast("cuda", dtype=torch.bfloat16):   # GPUs without bf16 units: torch.float16
    y = model(x)]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Replace dilated, odd-sized or depthwise convolutions with forms that have tensor-core kernels in cuDNN" },
  },
  false_positives = "Small depthwise layers of mobile networks.",
  references = { "pytorch/tuning-guide", "pytorch/channels-last" },

  -- Where sizes were recorded, kernel/slow-convolutions measures what the name of a kernel only suggests.
  detect = function(f, t, e)
    local rated = f.roofline.rated.share
    if rated ~= nil and not at_most(rated, t.max_rated_share) then return nil end
    return e
  end,

  saving = { remedy = "halved", confidence = 0.5, basis = "half of the time of these kernels is gone" },

  tests = {
    { name = "im2col in ten layers",
      edges = { ["family.naive_convolution.lost"] = 8e7, ["family.naive_convolution.per_step"] = 2 },
      facts = { window = { device_time = 1e9 }, family = { naive_convolution = { per_step = 20, lost = 2.4e8, halved = true } } },
      expect = { share = 0.24, count = 20 },
      saving = { claims = 2.4e8, confidence = 0.5 } },
    { name = "near miss: sizes were recorded, so that efficiency is measured",
      edges = { ["roofline.rated.share"] = 0.5 },
      facts = { window = { device_time = 1e9 }, family = { naive_convolution = { per_step = 20, lost = 2.4e8, halved = true } },
                roofline = { rated = { share = 0.95 } } },
      expect = "silent" },
    { name = "near miss: one small layer",
      facts = { window = { device_time = 1e9 }, family = { naive_convolution = { per_step = 20, lost = 2e7, halved = true } } },
      expect = "silent" },
    { name = "near miss: one kernel a step",
      facts = { window = { device_time = 1e9 }, family = { naive_convolution = { per_step = 1, lost = 2.4e8, halved = true } } },
      expect = "silent" },
    { name = "no such convolutions",
      facts = { window = { device_time = 1e9 }, family = { naive_convolution = { per_step = 0, lost = 0, halved = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
