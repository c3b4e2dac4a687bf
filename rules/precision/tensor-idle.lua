-- Matrix kernels run, and the tensor pipes rest: by samples, which carry no kernel names and are read only while matrix and
-- convolution kernels ran on the same device, else by counters of such kernels.
return {
  id        = "precision/tensor-idle",
  title     = "Let the matrix products use the tensor cores",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "flag",
  observed  = "measured",
  knowledge = { "K-F4", "K-F7" },

  needs      = { "precision.matrix.share", "precision.tensor.active", "precision.tensor.active_from" },
  optional   = { "precision.tensor.samples", "roofline.shapes.covered", "roofline.shapes.share", "roofline.shapes.memory.share" },
  thresholds = { "min_matrix", "max_active", "min_samples", "max_memory" },

  symptom = "While matrix kernels run, the tensor pipes are active {active:pct} of the time (from {from:text}). These kernels take {matrix:pct} of the compute time.",
  cause   = "The products use a precision or layout that tensor cores do not support, or they are too small or too short of data to keep them busy.",
  fixes   = {
    { action = "Turn on mixed precision", snippet = 'with torch.autocast("cuda", dtype=torch.bfloat16):   # GPUs without bf16 units: torch.float16\n    out = model(x)',
      language = "python", ["for"] = { "pytorch" } },
    { action = "Keep sizes multiples of 8 (16-bit) or 16 (8-bit), and images in channels-last layout",
      snippet = "model = model.to(memory_format=torch.channels_last)", language = "python", ["for"] = { "pytorch" } },
    { action = "Make the products larger: a larger batch keeps the pipes busy for longer" },
  },
  false_positives = "Matrix-vector products, as in decoding one token at a time, are limited by memory and cannot fill the pipes.",
  references = { "pytorch/amp" },

  applies = function(f) return f.precision.matrix.share > 0, "no matrix or convolution kernels ran" end,

  detect = function(f, t)
    if not at_least(f.precision.matrix.share, t.min_matrix) then return nil end
    local from = f.precision.tensor.active_from
    if from == "samples" and not at_least(f.precision.tensor.samples, t.min_samples) then return nil end
    if not at_most(f.precision.tensor.active, t.max_active) then return nil end
    -- Sizes that memory limits cannot fill the pipes in any precision.
    local shapes = f.roofline.shapes
    if shapes.memory.share and at_least(share(shapes.memory.share, shapes.share) * shapes.covered, t.max_memory) then return nil end
    return { active = f.precision.tensor.active, matrix = f.precision.matrix.share, from = from }
  end,

  tests = {
    { name = "matrix kernels without tensor activity",
      edges = { ["precision.matrix.share"] = 0.2, ["precision.tensor.active"] = 0.1, ["precision.tensor.samples"] = 50 },
      facts = { precision = { matrix = { share = 0.7 }, tensor = { active = 0.01, active_from = "samples", samples = 5000 } } },
      expect = { active = 0.01, matrix = 0.7, from = "samples" } },
    { name = "counted kernels without tensor instructions",
      facts = { precision = { matrix = { share = 0.7 }, tensor = { active = 0.0, active_from = "counters" } } },
      expect = { active = 0, from = "counters" } },
    { name = "near miss: the pipes work half of the time",
      facts = { precision = { matrix = { share = 0.7 }, tensor = { active = 0.5, active_from = "samples", samples = 5000 } } },
      expect = "silent" },
    { name = "recorded sizes that should compute",
      edges = { ["roofline.shapes.covered"] = 3 },
      facts = { precision = { matrix = { share = 0.7 }, tensor = { active = 0.01, active_from = "samples", samples = 5000 } },
                roofline = { shapes = { covered = 1, share = 0.6, memory = { share = 0.1 } } } },
      expect = { active = 0.01 } },
    { name = "near miss: by their sizes memory limits the products",
      facts = { precision = { matrix = { share = 0.7 }, tensor = { active = 0.01, active_from = "samples", samples = 5000 } },
                roofline = { shapes = { covered = 0.9, share = 0.7, memory = { share = 0.6 } } } },
      expect = "silent" },
    { name = "near miss: a handful of samples says nothing",
      facts = { precision = { matrix = { share = 0.7 }, tensor = { active = 0.0, active_from = "samples", samples = 3 } } },
      expect = "silent" },
    { name = "no matrix kernels",
      facts = { precision = { matrix = { share = 0 }, tensor = { active = 0, active_from = "samples", samples = 100 } } }, expect = "not_applicable" },
    { name = "no samples were recorded", facts = { precision = { matrix = { share = 0.7 } } }, expect = "cannot_tell" },
  },
}
