-- Weights that are stored in 4 or 8 bits are unpacked into a 16-bit copy before each product; a kernel that unpacks
-- while it multiplies reads a quarter to a half of the bytes.
return {
  id        = "inference/dequantisation",
  title     = "Use kernels that multiply quantized weights directly",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 74,
  explains  = { "kernel/hot", "step/low-mfu", "precision/repeated-cast" },
  knowledge = { "K-C5", "K-E1" },

  loss           = "family.dequantize",
  not_applicable = "no kernels unpack quantized weights",
  evidence       = { count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Unpacking quantized weights takes {share:pct} of the time: {count:count} kernels {per:text}.",
  cause   = "The weights are written out in 16 bits and read back by the matrix product. That moves more bytes than no quantization at all.",
  fixes   = {
    { action  = "Use kernels that multiply packed weights (Marlin, AWQ or GPTQ kernels, TensorRT-LLM)",
      snippet = "vllm serve model --quantization awq_marlin",
      language = "bash", ["for"] = { "vllm" } },
    { action  = "Use kernels that multiply packed weights (Marlin, AWQ or GPTQ kernels)",
      snippet = "python -m sglang.launch_server --model-path MODEL --quantization awq_marlin",
      language = "bash", ["for"] = { "sglang" } },
    { action = "When you train on quantized weights (QLoRA), use a larger batch, so that each unpacking serves more tokens" },
  },
  false_positives = "Training with adapters on packed weights, where unpacking is the price of the saved memory.",
  references = { "nvidia/gpu-background" },

  saving = { confidence = 0.5, basis = "matrix products read the packed weights" },

  tests = {
    { name = "4-bit weights unpacked in each layer",
      edges = { ["family.dequantize.lost"] = 1e8, ["family.dequantize.per_step"] = 2 },
      facts = { window = { device_time = 1e9 }, family = { dequantize = { per_step = 20, lost = 3e8, remedy = true } } },
      expect = { share = 0.3, count = 20 },
      saving = { claims = 3e8, confidence = 0.5 } },
    { name = "near miss: a small quantised head",
      facts = { window = { device_time = 1e9 }, family = { dequantize = { per_step = 20, lost = 2.5e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one kernel a step",
      facts = { window = { device_time = 1e9 }, family = { dequantize = { per_step = 1, lost = 3e8, remedy = true } } },
      expect = "silent" },
    { name = "nothing is unpacked",
      facts = { window = { device_time = 1e9 }, family = { dequantize = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
