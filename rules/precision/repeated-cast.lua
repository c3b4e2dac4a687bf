-- Cast kernels all over the step. Mixed precision casts its weights once a step, which takes a few percent; far more means that
-- the same tensors go back and forth between types.
return {
  id        = "precision/repeated-cast",
  title     = "Convert each tensor once and keep the result",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 72,
  explains  = { "launch/tiny-kernels", "launch/host-op-overhead", "transfer/copy-operator", "host/tensor-conversions" },
  knowledge = { "K-A4", "K-H1" },
  effort    = "code",

  loss           = "precision.cast",
  applies        = "per_step",
  not_applicable = "no tensors are cast",
  evidence       = { "per_step", compute_share = "share" },
  optional       = { "op.cast.per_step", "precision.cast.widening", "run.trains", "family.quantization.lost" },
  thresholds     = { "min_share", "min_per_step", "both_ways" },

  symptom = "Type conversions take {share:pct} of the time: {per_step:count} casts{op_text:text} {per:text}.",
  cause   = "{why:text} Each cast reads and writes the whole tensor and computes nothing.",
  fixes   = {
    { reason = "both", action = "Compile the model: the compiler fuses casts into neighboring kernels", snippet = "model = torch.compile(model)",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "both", action = "Use fused kernels for the layers between that compute in FP32, such as normalization",
      snippet = "y = torch.nn.functional.rms_norm(x, (hidden,), weight, eps)     # x stays in its type", language = "python", ["for"] = { "pytorch" } },
    { reason = "!both", action = "If weights are in another type than the matrix products use, convert them once",
      snippet = "model = model.to(torch.bfloat16)   # once, after loading", language = "python", ["for"] = { "pytorch", "inference" } },
    { reason = "!both", action = "Keep weights in the type that the matrix products use, if the optimizer holds its own FP32 copy (FSDP mixed precision, DeepSpeed bf16)",
      snippet = "model = model.to(torch.bfloat16)   # with FP32 master weights in the optimizer", language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Take .to(), .float() and .half() out of the loop: cast inputs and constants once, where they are made",
      snippet = "table = table.to(device, torch.bfloat16)   # once, before the loop\nfor x in loader:\n    y = model(x, table)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Let autocast choose types for the whole forward pass instead of casting by hand between layers",
      snippet = "with torch.autocast(\"cuda\", dtype=torch.bfloat16):   # GPUs without bf16 units: torch.float16\n    out = model(x)", language = "python", ["for"] = { "pytorch" } },
    { reason = "!both", action = "Compile the model: the compiler fuses casts into neighboring kernels", snippet = "model = torch.compile(model)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "In CUDA C++, store data in the type that kernels use, and convert inside the kernels", ["for"] = { "c++" } },
    { action = "Keep parameters in the type in which they are used",
      snippet = "params = jax.tree.map(lambda x: x.astype(jax.numpy.bfloat16), params)   # once, after loading", language = "python", ["for"] = { "jax", "inference" } },
    { action = "Take casts out of the step: convert inputs and constants once, where they are made", ["for"] = { "jax" } },
  },
  false_positives = "Conversions that a method needs, such as rounding before a product in a small type.",
  references = { "pytorch/amp", "pytorch/compile", "nvidia/mixed-precision" },

  detect = function(f, t, e)
    -- Quantized models round each new activation, and widen weights that are kept small on purpose.
    local quantized = f.family.quantization.lost
    if quantized and 2 * quantized.time > f.precision.cast.lost.time then return nil end
    e.op_text = f.op.cast.per_step and " and " .. in_words(math.floor(f.op.cast.per_step + 0.5), "count") .. " calls of aten::_to_copy" or ""
    -- Training casts weights down and their gradients up again; without gradients, weights go one way only.
    local widening = f.precision.cast.widening
    local both = not f.run.trains and widening and at_least(math.min(widening, 1 - widening), t.both_ways)
    e.reason = both and "both" or "one"
    e.why = both and "Tensors are cast up for a layer, and down again after it." or
            "The same tensors are cast again and again, or types change from layer to layer."
    return e
  end,

  saving = { confidence = 0.6, basis = "three of four casts are gone" },

  tests = {
    { name = "a seventh of the time in 400 casts a step",
      edges = { ["precision.cast.lost"] = 5e7, ["precision.cast.per_step"] = 10 },
      facts = { window = { device_time = 1e9 },
                precision = { cast = { share = 0.16, per_step = 400, lost = 1.4e8, remedy = true } } },
      expect = { share = 0.14, per_step = 400, op_text = "" },
      saving = { claims = 1.4e8 } },
    { name = "near miss: a quantized model rounds its activations",
      facts = { window = { device_time = 1e9 }, family = { quantization = { lost = 1.2e8 } },
                precision = { cast = { share = 0.16, per_step = 400, lost = 1.4e8, remedy = true } } },
      expect = "silent" },
    { name = "a quantized output layer, and casts all over the rest",
      facts = { window = { device_time = 1e9 }, family = { quantization = { lost = 2e7 } },
                precision = { cast = { share = 0.16, per_step = 400, lost = 1.4e8, remedy = true } } },
      expect = { share = 0.14 } },
    { name = "with the operators of a framework's trace",
      facts = { window = { device_time = 1e9 }, op = { cast = { per_step = 410 } },
                precision = { cast = { share = 0.16, per_step = 400, lost = 1.4e8, remedy = true } } },
      expect = { share = 0.14, op_text = " and 410 calls of aten::_to_copy" } },
    { name = "activations that are cast up and down again",
      edges = { ["precision.cast.widening"] = 0.3 },
      facts = { window = { device_time = 1e9 }, run = { trains = false },
                precision = { cast = { share = 0.16, per_step = 98, lost = 1.4e8, remedy = true, widening = 0.5 } } },
      expect = { reason = "both", why = "Tensors are cast up for a layer, and down again after it." } },
    { name = "weights that go down and gradients that go up",
      facts = { window = { device_time = 1e9 }, run = { trains = true },
                precision = { cast = { share = 0.16, per_step = 98, lost = 1.4e8, remedy = true, widening = 0.5 } } },
      expect = { reason = "one" } },
    { name = "near miss: autocast casts the weights once a step",
      facts = { window = { device_time = 1e9 },
                precision = { cast = { share = 0.03, per_step = 300, lost = 3e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one large cast of the input",
      facts = { window = { device_time = 1e9 },
                precision = { cast = { share = 0.1, per_step = 1, lost = 1e8, remedy = true } } },
      expect = "silent" },
    { name = "no casts",
      facts = { window = { device_time = 1e9 }, precision = { cast = { share = 0, per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
