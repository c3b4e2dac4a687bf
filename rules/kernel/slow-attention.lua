-- Fused attention that takes much longer than good libraries take for the same sizes: measured by recorded sizes.
local why = {
  ["one-query"] = "One query per sequence reads all keys for little work, and the GPU gets only one block per head.",
  ["short-sequence"] = "Sequences are so short that each block ends soon after it starts.",
  ["fp32-units"] = "It computes in FP32 without the matrix units, which are many times faster.",
  ["few-tiles"] = "Batch, heads and queries together give fewer tiles than the GPU has SMs.",
  [""] = "The implementation may be made for an older GPU or another head size. At these sizes, good libraries are faster.",
}

return {
  id        = "kernel/slow-attention",
  title     = "Speed up attention kernels that run far below the peak",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 57,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-E1", "K-H1" },
  effort    = "code",

  loss           = "roofline.below.attention",
  not_applicable = "no recorded attention operator runs far below what the GPU allows",
  evidence       = { "count", "rows" },
  thresholds     = { "min_share" },

  symptom = "{op:text} {shape:text} in {dtype:text} reaches {attained:pct} of {roof:text}; good libraries reach {good:pct}. Such calls waste {share:pct} of the time. The kernel is {place:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "one-query", action = "Where a sequence has one query, use a decode kernel that splits the keys across blocks (Flash-Decoding, FlashInfer, FlashMLA), and share keys between heads (GQA)" },
    { reason = "short-sequence", action = "Where sequences are short, pack several into one call without padding (varlen attention)",
      snippet = "flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_q, max_k)", language = "python", ["for"] = { "pytorch" } },
    { reason = "fp32-units", action = "Where attention runs in FP32, use bf16",
      snippet = "q, k, v = q.bfloat16(), k.bfloat16(), v.bfloat16()", language = "python", ["for"] = { "pytorch" } },
    { action = "Try cuDNN, or FlashAttention 2 (3 on Hopper)",
      snippet = "from torch.nn.attention import SDPBackend, sdpa_kernel\nwith sdpa_kernel(SDPBackend.CUDNN_ATTENTION):\n    out = F.scaled_dot_product_attention(q, k, v)", language = "python", ["for"] = { "pytorch", "nvidia" } },
    { action = "Try the other implementations for this GPU: AITER, or Composable Kernel",
      snippet = "torch.backends.cuda.preferred_rocm_fa_library(\"ck\")   # PyTorch 2.7 and later\nout = F.scaled_dot_product_attention(q, k, v)", language = "python", ["for"] = { "pytorch", "amd" } },
    { action = "Profile the kernel: ncu shows which unit or which wait limits it",
      snippet = "ncu --set full --kernel-name 'regex:^{kernel_name:function}$' --launch-count 3 -o slow -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Profile the kernel: rocprof-compute shows which unit or which wait limits it",
      snippet = "rocprof-compute profile --name slow --kernel {kernel_name:function} -- COMMAND", language = "bash", ["for"] = { "amd" } },
  },
  false_positives = "Masks and windows that hide more than the recorded flags say.",
  references = { "nvidia/gpu-background", "pytorch/tuning-guide", "rocm/tuning" },

  detect = function(f, t, e)
    local worst = f.roofline.below.attention.rows[1]
    e.why = why[worst.reason] or why[""]
    return adopt(e, worst)
  end,

  saving = { confidence = 0.5, basis = "attention runs as fast as in good libraries at the same sizes" },

  tests = {
    { name = "half of the time could be won",
      edges = { ["roofline.below.attention.lost"] = 1e7 },
      facts = { window = { device_time = 1e9 },
                roofline = { below = { attention = { count = 10, lost = 4.8e8, remedy = true, rows = { { op = "aten::_flash_attention_forward", shape = "[1, 32768, 32, 128] by [1, 32768, 32, 128]", dtype = "bf16", place = "attn_fwd", kernel_name = "attn_fwd", reason = "", roof = "the peak", attained = 0.2, good = 0.5 } } } } } },
      expect = { share = 0.48, attained = 0.2, good = 0.5, op = "aten::_flash_attention_forward", reason = "", roof = "the peak", rows = 1 },
      saving = { claims = 4.8e8 } },
    { name = "near miss: too little to win",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { attention = { count = 10, lost = 5e6, remedy = true, rows = { { op = "aten::_flash_attention_forward", shape = "[1, 32768, 32, 128] by [1, 32768, 32, 128]", dtype = "bf16", place = "attn_fwd", kernel_name = "attn_fwd", reason = "", roof = "the peak", attained = 0.2, good = 0.5 } } } } } },
      expect = "silent" },
    { name = "near miss: all run as good libraries do", facts = { window = { device_time = 1e9 },
                roofline = { below = { attention = { count = 0, lost = 0, remedy = true, rows = {  } } } } }, expect = "not_applicable" },
    { name = "sizes were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
