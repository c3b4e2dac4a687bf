-- The GPU multiplies FP8 at about twice its 16-bit rate, and most of the time goes to 16-bit products. Accuracy has to
-- be checked: an idea, not a fault.
return {
  id        = "precision/fp8-unused",
  title     = "Consider FP8 for the large matrix products",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "design",
  knowledge = { "K-K13", "K-H1" },

  needs      = { "precision.half.share", "precision.fp8.share", "hw.peak_tensor_flops" },
  optional   = { "hw.peak_fp8_flops", "budget.compute", "window.time" },
  thresholds = { "min_share", "min_busy" },

  symptom = "16-bit matrix kernels take {share:pct} of the compute time, and the GPU's FP8 tensor cores are not used.",
  cause   = "The model runs entirely in bfloat16 or FP16.",
  fixes   = {
    { action  = "Try FP8 for linear layers, and compare the loss",
      snippet = [[import transformer_engine.pytorch as te
with te.autocast(enabled=True):     # before Transformer Engine 2.9: te.fp8_autocast
    y = layer(x)]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Serve weights that are quantized to FP8, and compare the answers",
      snippet = "vllm serve MODEL --quantization fp8", language = "bash", ["for"] = { "vllm" } },
    { action = "Serve weights that are quantized to FP8, and compare the answers",
      snippet = "python -m sglang.launch_server --model-path MODEL --quantization fp8", language = "bash", ["for"] = { "sglang" } },
    { action = "Quantize the linear layers to FP8, and compare the answers",
      snippet = "from torchao.quantization import Float8DynamicActivationFloat8WeightConfig, quantize_\nquantize_(model, Float8DynamicActivationFloat8WeightConfig())",
      language = "python", ["for"] = { "pytorch", "inference" } },
    { action = "Run large matrix products in FP8 where the accuracy allows (cuBLASLt, Transformer Engine), and compare the results" },
  },
  false_positives = "Models whose accuracy suffers.",
  references = { "nvidia/mixed-precision" },

  applies = function(f)
    if f.precision.half.share == 0 then return false, "no 16-bit matrix kernels ran" end
    -- Absent where the GPU is not known: then nobody can tell.
    if f.hw.peak_tensor_flops == 0 then return false, "the GPU has no tensor cores" end
    return f.hw.peak_fp8_flops ~= nil, "the GPU has no FP8 units"
  end,

  detect = function(f, t)
    if f.precision.fp8.share > 0 then return nil end
    if not at_least(f.precision.half.share, t.min_share) then return nil end
    -- Faster products win nothing for a GPU that waits.
    if f.budget.compute and f.window.time and not at_least(share(f.budget.compute, f.window.time), t.min_busy) then return nil end
    return { share = f.precision.half.share }
  end,

  tests = {
    { name = "a bfloat16 transformer on an H100",
      edges = { ["precision.half.share"] = 0.6 },
      facts = { precision = { half = { share = 0.8 }, fp8 = { share = 0 } }, hw = { peak_tensor_flops = 1e15, peak_fp8_flops = 2e15 } },
      expect = { share = 0.8 } },
    { name = "a GPU that is busy half of the time",
      edges = { ["budget.compute"] = 5e8 },
      facts = { precision = { half = { share = 0.8 }, fp8 = { share = 0 } }, hw = { peak_tensor_flops = 1e15, peak_fp8_flops = 2e15 },
                budget = { compute = 6e8 }, window = { time = 1e9 } },
      expect = { share = 0.8 } },
    { name = "near miss: the GPU waits most of the time",
      facts = { precision = { half = { share = 0.8 }, fp8 = { share = 0 } }, hw = { peak_tensor_flops = 1e15, peak_fp8_flops = 2e15 },
                budget = { compute = 1.5e8 }, window = { time = 1e9 } },
      expect = "silent" },
    { name = "near miss: FP8 is in use",
      facts = { precision = { half = { share = 0.7 }, fp8 = { share = 0.1 } }, hw = { peak_tensor_flops = 1e15, peak_fp8_flops = 2e15 } },
      expect = "silent" },
    { name = "near miss: a small part",
      facts = { precision = { half = { share = 0.3 }, fp8 = { share = 0 } }, hw = { peak_tensor_flops = 1e15, peak_fp8_flops = 2e15 } },
      expect = "silent" },
    { name = "FP32 only",
      facts = { precision = { half = { share = 0 }, fp8 = { share = 0 } }, hw = { peak_tensor_flops = 1e15, peak_fp8_flops = 2e15 } },
      expect = "not_applicable" },
    { name = "a GPU without FP8",
      facts = { precision = { half = { share = 0.8 }, fp8 = { share = 0 } }, hw = { peak_tensor_flops = 1e15 } },
      expect = "not_applicable" },
    { name = "a GPU that is not known",
      facts = { precision = { half = { share = 0.8 }, fp8 = { share = 0 } }, hw = {} },
      expect = "cannot_tell" },
  },
}
