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
  thresholds     = { "min_share", "min_count" },

  symptom = "Concatenating and stacking tensors takes {share:pct} of the time: {count:count} kernels {per:text}.",
  cause   = "Concatenating and stacking copy every input into a new tensor. A key-value cache or a list that grows this way is copied at each step.",
  fixes   = {
    { action  = "Allocate the result once, and let the operators that compute the parts write into it",
      snippet = [[out = torch.empty(n, d, device="cuda")          # once
for i, x in enumerate(inputs):
    torch.mm(x, weight, out=out[i * k:(i + 1) * k])   # out= has no gradient: in training, compile the model instead]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "In your own kernels, write each part into a slice of one buffer" },
    { action = "For generation, use a preallocated (static) key-value cache" },
  },
  false_positives = "A few large concatenations that the model needs.",
  references = { "pytorch/tuning-guide" },

  saving = { remedy = "halved", confidence = 0.5, basis = "half of the time of these kernels is gone" },

  tests = {
    { name = "a cache that is concatenated in each layer",
      edges = { ["family.concat.lost"] = 4e7, ["family.concat.per_step"] = 2 },
      facts = { window = { device_time = 1e9 }, family = { concat = { per_step = 20, lost = 1.2e8, halved = true } } },
      expect = { share = 0.12, count = 20 },
      saving = { claims = 1.2e8, confidence = 0.5 } },
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
