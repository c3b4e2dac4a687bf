-- Attention as matmul, softmax, matmul: the whole score matrix goes to device memory and back, more than once.
return {
  id        = "kernel/unfused-attention",
  title     = "Use a fused attention kernel",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 75,
  explains  = { "kernel/hot" },
  knowledge = { "K-C5", "K-E3" },
  effort    = "code",

  loss           = "kernel.attention.unfused",
  not_applicable = "no sequence of matmul, softmax, matmul was seen",
  evidence       = { "count", compute_share = "share" },
  optional       = { "steps.count" },
  thresholds     = { "min_share", "min_count" },

  symptom = "{share:pct} of the time runs attention in separate kernels: {count:count} sequences of matmul, softmax, matmul {per:text}.",
  cause   = "Separate kernels write the score matrix of every head to device memory and read it again for mask, softmax and the second product. A fused kernel keeps it on the chip.",
  fixes   = {
    { action = "Call PyTorch's fused attention",
      snippet = "# is_causal=True only where the code masks later tokens; attn_mask=mask for any other mask\nout = torch.nn.functional.scaled_dot_product_attention(q, k, v)", language = "python" },
    { action = "Ask the model library for it",
      snippet = "model = AutoModelForCausalLM.from_pretrained(name, attn_implementation=\"sdpa\", torch_dtype=torch.bfloat16)",
      language = "python" },
    { action = "If fused attention is called already, see why it falls back: FlashAttention wants fp16 or bf16 and no arbitrary mask; force a backend and read the error",
      snippet = "from torch.nn.attention import SDPBackend, sdpa_kernel\nwith sdpa_kernel(SDPBackend.FLASH_ATTENTION):\n    out = model(batch)",
      language = "python" },
  },
  false_positives = "Attention whose weights are needed as a result, or with a score function that no fused kernel knows.",
  references = { "pytorch/sdpa", "flash-attention/repository" },

  detect = function(f, t, e)
    e.per = f.steps.count and "a step" or "in the window"
    return e
  end,

  saving = { confidence = 0.7, basis = "a fused kernel that does not write the scores" },

  tests = {
    { name = "32 layers with separate kernels take a fifth of the time",
      facts = { window = { device_time = 2e9 }, steps = { count = 5 },
                kernel = { attention = { unfused = { share = 0.22, count = 32, lost = 4e8, remedy = true } } } },
      expect = { share = 0.2, count = 32, per = "a step" },
      saving = { claims = 4e8 } },
    { name = "near miss: the output layer and its softmax, once a step",
      facts = { window = { device_time = 1e9 }, steps = { count = 5 },
                kernel = { attention = { unfused = { share = 0.08, count = 1, lost = 8e7, remedy = true } } } },
      expect = "silent" },
    { name = "near miss: short sequences, little time",
      facts = { window = { device_time = 1e9 }, steps = { count = 5 },
                kernel = { attention = { unfused = { share = 0.01, count = 32, lost = 1e7, remedy = true } } } },
      expect = "silent" },
    { name = "no such sequences",
      facts = { window = { device_time = 1e9 }, kernel = { attention = { unfused = { share = 0, count = 0, lost = 0, remedy = true } } } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
