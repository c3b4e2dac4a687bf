-- Kernels that only draw random numbers (dropout masks, noise): their output is written to memory and read again by the
-- next kernel, which could have drawn them itself.
return {
  id        = "kernel/dropout-random",
  title     = "Generate random numbers inside the kernels that use them",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 58,
  explains  = { "kernel/hot" },
  knowledge = { "K-C5", "K-H6" },

  loss           = "family.dropout",
  not_applicable = "no kernels generate random numbers",
  evidence       = { count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Generating random numbers takes {share:pct} of the GPU time: {count:count} kernels {per:text}.",
  cause   = "Dropout or noise runs as its own kernel, with a mask that is written to memory and read back.",
  fixes   = {
    { action  = "Let the compiler fuse dropout with the operations around it",
      snippet = "model = torch.compile(model)",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Use attention with built-in dropout",
      snippet = "out = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1 if training else 0.0)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Set dropout to 0 if the model does not need it (most large language models are trained without)" },
  },
  false_positives = "Models whose work is sampling, such as diffusion noise or Monte Carlo.",
  references = { "pytorch/compile", "pytorch/sdpa" },

  saving = { remedy = "halved", confidence = 0.5, basis = "half of the time of these kernels" },

  tests = {
    { name = "a mask kernel after each layer",
      facts = { window = { device_time = 1e9 }, family = { dropout = { per_step = 20, lost = 1.2e8, halved = true } } },
      expect = { share = 0.12, count = 20 },
      saving = { claims = 1.2e8, confidence = 0.5 } },
    { name = "near miss: a few noise kernels",
      facts = { window = { device_time = 1e9 }, family = { dropout = { per_step = 20, lost = 1e7, halved = true } } },
      expect = "silent" },
    { name = "near miss: one a step, for the input noise",
      facts = { window = { device_time = 1e9 }, family = { dropout = { per_step = 1, lost = 1.2e8, halved = true } } },
      expect = "silent" },
    { name = "no random numbers are drawn",
      facts = { window = { device_time = 1e9 }, family = { dropout = { per_step = 0, lost = 0, halved = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
