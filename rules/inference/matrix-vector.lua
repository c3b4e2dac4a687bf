-- Products of a matrix with one or a few vectors: the weights are read from memory for very little arithmetic. A batch
-- reads them once for all. Library kernels for few rows often carry the name of an ordinary matrix kernel: recorded sizes
-- tell them apart.
return {
  id        = "inference/matrix-vector",
  title     = "Decode more sequences at once",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "design",
  own_steps = true,
  knowledge = { "K-E1", "K-H2" },

  needs      = { "family.gemv.share", "family.gemv.per_step" },
  optional   = { "roofline.shapes.few.share", "roofline.shapes.few.uses", "roofline.shapes.few.per_step", "steps.backward.time",
                 "run.kind", "run.trains" },
  thresholds = { "min_share" },

  symptom = "Products of matrices with {vectors:text} take {share:pct} of the compute time: {count:count} kernels {per:text}. Each reads all weights for {tokens:text}.",
  cause   = "One sequence, or very few, is decoded at a time.",
  fixes   = {
    { action = "Batch requests (continuous batching), up to the latency limit" },
    { action = "Quantize the weights: half the bytes take about half the time" },
    { action = "Decode several tokens per step (speculative decoding)" },
  },
  false_positives = "Interactive use by one person.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    if f.run.kind == "solver" then return false, "the run is a loop without a model, as of a solver: it serves no tokens" end
    if f.run.trains then return false, "the run trains: its products serve no tokens" end
    return f.family.gemv.share > 0 or (f.roofline.shapes.few.share or 0) > 0, "no matrix-vector products ran"
  end,

  detect = function(f, t)
    local few = f.roofline.shapes.few
    -- A backward pass tells training, where few rows are a matter of the batch and not of requests.
    if (f.steps.backward.time or 0) == 0 and few.share and few.share > f.family.gemv.share then
      if not at_least(few.share, t.min_share) then return nil end
      local rows = math.floor(few.uses + 0.5)
      if rows > 1 then
        return { share = few.share, count = few.per_step, vectors = "about " .. rows .. " rows", tokens = "so few tokens", by = "sizes" }
      end
      return { share = few.share, count = few.per_step, vectors = "single vectors", tokens = "one token", by = "sizes" }
    end
    if not at_least(f.family.gemv.share, t.min_share) then return nil end
    return { share = f.family.gemv.share, count = f.family.gemv.per_step, vectors = "single vectors", tokens = "one token", by = "names" }
  end,

  tests = {
    { name = "decoding one sequence",
      edges = { ["family.gemv.share"] = 0.3 },
      facts = { family = { gemv = { share = 0.8, per_step = 225 } } },
      expect = { share = 0.8, vectors = "single vectors", by = "names" } },
    { name = "eight sequences through ordinary matrix kernels, told by recorded sizes",
      facts = { family = { gemv = { share = 0, per_step = 0 } }, steps = { backward = {} },
                roofline = { shapes = { few = { share = 0.7, uses = 8.2, per_step = 225 } } } },
      expect = { share = 0.7, count = 225, vectors = "about 8 rows", tokens = "so few tokens", by = "sizes" } },
    { name = "near miss: sizes show few such products",
      facts = { family = { gemv = { share = 0, per_step = 0 } }, steps = { backward = {} },
                roofline = { shapes = { few = { share = 0.05, uses = 1, per_step = 3 } } } },
      expect = "silent" },
    { name = "near miss: training with a small batch",
      facts = { family = { gemv = { share = 0.01, per_step = 2 } }, steps = { backward = { time = 4e6 } },
                roofline = { shapes = { few = { share = 0.7, uses = 16, per_step = 225 } } } },
      expect = "silent" },
    { name = "near miss: a small part",
      facts = { family = { gemv = { share = 0.05, per_step = 4 } } },
      expect = "silent" },
    { name = "a solver",
      facts = { family = { gemv = { share = 0.8, per_step = 225 } }, run = { kind = "solver" } },
      expect = "not_applicable" },
    { name = "training",
      facts = { family = { gemv = { share = 0.8, per_step = 225 } }, run = { kind = "training", trains = true } },
      expect = "not_applicable" },
    { name = "none",
      facts = { family = { gemv = { share = 0, per_step = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels",
      facts = {},
      expect = "cannot_tell" },
  },
}
