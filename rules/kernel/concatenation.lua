-- Concatenation copies all of its inputs: in a loop that appends to a tensor, again and again.
return {
  id        = "kernel/concatenation",
  title     = "Write into one buffer instead of concatenating",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 58,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-H8", "K-C5" },

  loss           = "family.concat",
  not_applicable = "no kernels concatenate tensors",
  evidence       = { count = "per_step" },
  optional       = { "run.kind", "run.decode", "family.decode.per_step", "family.concat.halved", "family.concat.remedy" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Concatenating and stacking tensors takes {share:pct} of the time: {count:count} kernels {per:text}.",
  cause   = "Concatenating and stacking copy every input into a new tensor. A key-value cache or a list that grows this way is copied at each step.",
  fixes   = {
    { reason  = "decode", action = "Generate with a static key-value cache: it is allocated once, and each token is written into its place",
      snippet = 'model.generation_config.cache_implementation = "static"\nout = model.generate(**inputs, max_new_tokens=200)',
      language = "python", ["for"] = { "hugging face transformers" } },
    { reason = "decode", action = "Allocate the key-value cache once, as long as it may get, and write each token into its place" },
    { action  = "Allocate the result once, and let the operators that compute the parts write into it",
      snippet = [[out = torch.empty(n, d, device="cuda")          # once
for i, x in enumerate(inputs):
    torch.mm(x, weight, out=out[i * k:(i + 1) * k])   # out= has no gradient: in training, compile the model instead]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "In your own kernels, write each part into a slice of one buffer" },
    { reason = "!decode", action = "For generation, use a preallocated (static) key-value cache" },
  },
  false_positives = "A few large concatenations that the model needs.",
  references = { "pytorch/tuning-guide" },

  detect = function(f, t, e)
    -- Attention over keys that earlier passes left behind.
    local over_cache = f.run.kind == "inference" and (f.family.decode.per_step or 0) > 0
    e.reason = (f.run.decode or over_cache) and "decode" or "other"
    return e
  end,

  -- A new token is a few bytes; what else is concatenated may be needed in one piece.
  saving = function(f, t, e)
    local decode = e.reason == "decode"
    return { claims = f.family.concat.lost, remedy = decode and f.family.concat.remedy or f.family.concat.halved, confidence = 0.5,
             basis = decode and "new keys and values are written in place" or "half of the time of these kernels is gone" }
  end,

  tests = {
    { name = "a cache that is concatenated in each layer",
      edges = { ["family.concat.lost"] = 4e7, ["family.concat.per_step"] = 2 },
      facts = { window = { device_time = 1e9 }, family = { concat = { per_step = 20, lost = 1.2e8, halved = true } } },
      expect = { share = 0.12, count = 20 },
      saving = { claims = 1.2e8, confidence = 0.5 } },
    { name = "the keys and values of all tokens are copied for each new one",
      facts = { window = { device_time = 1e9 }, run = { decode = true }, family = { concat = { per_step = 56, lost = 3.8e8, halved = true, remedy = true } } },
      expect = { share = 0.38, reason = "decode" }, saving = { claims = 3.8e8, confidence = 0.5 } },
    { name = "the same in a program of which no range and no product tells that it generates",
      facts = { window = { device_time = 1e9 }, run = { kind = "inference", decode = false },
                family = { decode = { per_step = 28 }, concat = { per_step = 56, lost = 3.8e8, halved = true, remedy = true } } },
      expect = { share = 0.38, reason = "decode" }, saving = { claims = 3.8e8, confidence = 0.5 } },
    { name = "near miss: the skip connections of a network",
      facts = { window = { device_time = 1e9 }, family = { concat = { per_step = 20, lost = 1e7, halved = true } } },
      expect = "silent" },
    { name = "near miss: one a step",
      facts = { window = { device_time = 1e9 }, family = { concat = { per_step = 1, lost = 1.2e8, halved = true } } },
      expect = "silent" },
    { name = "nothing is concatenated",
      facts = { window = { device_time = 1e9 }, family = { concat = { per_step = 0, lost = 0, halved = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
