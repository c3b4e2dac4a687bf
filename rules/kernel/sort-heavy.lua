-- Sorts and top-k of large tensors take many passes over memory. In training they come from losses, samplers and
-- index_put; in serving from sampling. How much could be won depends on the model: half of it is what top-k, or a sampler
-- that needs no order, wins at least.
return {
  id        = "kernel/sort-heavy",
  title     = "Avoid sorting, or sort less",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 50,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-A7", "K-C5" },

  loss           = "family.sort",
  not_applicable = "no sorting kernels ran",
  evidence       = { count = "per_step" },
  optional       = { "run.decode", "run.kind", "run.trains", "run.framework", "family.sampling.per_step", "family.sort.halved" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Sorting and selecting take {share:pct} of the time: {count:count} kernels {per:text}.",
  cause   = "A sort makes several passes over all values, even if only a few of them are needed.",
  fixes   = {
    { action  = "To sample tokens, use kernels that find the top-k or top-p set without an order",
      snippet = "import flashinfer\n\ntokens = flashinfer.sampling.top_k_top_p_sampling_from_logits(scores, top_k=50, top_p=0.9)",
      language = "python", ["for"] = { "pytorch", "inference" } },
    { action  = "Request the few largest values instead of a full sort",
      snippet = "values, indices = torch.topk(scores, k=50, sorted=False)      # instead of scores.sort()",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Compare with a threshold or a histogram if the exact order does not matter" },
    { action = "For gradients of embeddings, use index_add_ or segment reductions on presorted indices, so that no sort runs in each step" },
  },
  false_positives = "Programs whose purpose is sorting.",
  references = { "pytorch/tuning-guide" },

  -- Where tokens are sampled, inference/sampling speaks of the sorts.
  detect = function(f, t, e)
    local samples = f.run.decode and not f.run.trains and (f.family.sampling.per_step or 0) > 0
    return not samples and e or nil
  end,

  -- A query sorts because it asks for an order, and joins and groups by it. Nor does anything show that a program in CUDA
  -- C++ or Fortran could do without.
  saving = function(f)
    if f.run.framework == "RAPIDS" or (f.run.kind == "solver" and (f.run.framework or "") == "") then return nil end
    return { claims = f.family.sort.lost, remedy = f.family.sort.halved, confidence = 0.4, basis = "half of the time of these kernels is gone" }
  end,

  tests = {
    { name = "four sorts a step",
      edges = { ["family.sort.per_step"] = 2, ["family.sort.lost"] = 1e8 },
      facts = { window = { device_time = 1e9 }, family = { sort = { per_step = 20, lost = 3e8, halved = true } } },
      expect = { share = 0.3, count = 20 }, saving = { claims = 3e8, confidence = 0.4 } },
    { name = "queries over tables: nothing is promised",
      facts = { window = { device_time = 1e9 }, run = { framework = "RAPIDS" }, family = { sort = { per_step = 20, lost = 3e8, halved = true } } },
      expect = { share = 0.3 }, saving = { claims = 0 } },
    { name = "particles that a simulation sorts: nothing is promised",
      facts = { window = { device_time = 1e9 }, run = { kind = "solver", framework = "" }, family = { sort = { per_step = 20, lost = 3e8, halved = true } } },
      expect = { share = 0.3 }, saving = { claims = 0 } },
    { name = "sorts of a sampler",
      facts = { window = { device_time = 1e9 }, run = { decode = true }, family = { sort = { per_step = 20, lost = 3e8, halved = true }, sampling = { per_step = 1 } } },
      expect = "silent" },
    { name = "near miss: sampling at the end of a step",
      facts = { window = { device_time = 1e9 }, family = { sort = { per_step = 20, lost = 2.5e7, halved = true } } },
      expect = "silent" },
    { name = "near miss: one sort a step",
      facts = { window = { device_time = 1e9 }, family = { sort = { per_step = 1, lost = 3e8, halved = true } } },
      expect = "silent" },
    { name = "nothing is sorted",
      facts = { window = { device_time = 1e9 }, family = { sort = { per_step = 0, lost = 0, halved = true } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
