-- Mixtures of experts whose products take much longer than good libraries take: measured by recorded sizes.
local why = {
  ["few-tiles"] = "The tokens, spread over the experts, give fewer tiles than the GPU has SMs.",
  ["few-uses"] = "Few tokens reach each expert, so its weights are read for little work.",
  [""] = "Experts may get unequal numbers of tokens, or tuning is missing. At these sizes, good libraries are faster.",
}

return {
  id        = "kernel/slow-experts",
  title     = "Speed up expert layers that run far below the peak",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 57,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-E1", "K-C5" },
  effort    = "code",

  loss           = "roofline.below.experts",
  not_applicable = "no recorded expert layer runs far below what the GPU allows",
  evidence       = { "count", "rows" },
  thresholds     = { "min_share" },

  symptom = "{op:text} {shape:text} in {dtype:text} reaches {attained:pct} of {roof:text}; good libraries reach {good:pct}. Such layers waste {share:pct} of the time. The kernel is {place:text}.",
  cause   = "{why:text}",
  fixes   = {
    { action = "Tune the kernel for these sizes: serving engines keep a table of tile sizes per GPU, and warn when it has no entry",
      snippet = "python benchmarks/kernels/benchmark_moe.py --model MODEL --tune", language = "bash", ["for"] = { "vllm" } },
    { reason = "few-uses", action = "Where few tokens reach each expert, run more tokens at once, or spread experts over GPUs (expert parallelism), so that each expert has more of them" },
    { reason = "few-tiles", action = "Where there are few tiles, store the weights in fewer bytes (FP8, FP4)" },
    { action = "Profile the kernel: ncu shows which unit or which wait limits it",
      snippet = "ncu --set full --kernel-name 'regex:^{kernel_name:function}$' --launch-count 3 -o slow -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Profile the kernel: rocprof-compute shows which unit or which wait limits it",
      snippet = "rocprof-compute profile --name slow --kernel {kernel_name:function} -- COMMAND", language = "bash", ["for"] = { "amd" } },
  },
  false_positives = "Routing that is very uneven. How tokens were distributed is not recorded.",
  references = { "nvidia/gpu-background", "rocm/tuning" },

  detect = function(f, t, e)
    local worst = f.roofline.below.experts.rows[1]
    e.why = why[worst.reason] or why[""]
    return adopt(e, worst)
  end,

  saving = { confidence = 0.5, basis = "expert layers run as fast as in good libraries at the same sizes" },

  tests = {
    { name = "half of the time could be won",
      edges = { ["roofline.below.experts.lost"] = 1e7 },
      facts = { window = { device_time = 1e9 },
                roofline = { below = { experts = { count = 10, lost = 4.8e8, remedy = true, rows = { { op = "vllm::rocm_aiter_fused_moe", shape = "[512, 7168] to 1 of 16 experts of [28672, 7168]", dtype = "bf16", place = "aiter_fused_moe_kernel_bf16", kernel_name = "aiter_fused_moe_kernel_bf16", reason = "", roof = "the peak", attained = 0.2, good = 0.5 } } } } } },
      expect = { share = 0.48, attained = 0.2, good = 0.5, op = "vllm::rocm_aiter_fused_moe", reason = "", roof = "the peak", rows = 1 },
      saving = { claims = 4.8e8 } },
    { name = "near miss: too little to win",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { experts = { count = 10, lost = 5e6, remedy = true, rows = { { op = "vllm::rocm_aiter_fused_moe", shape = "[512, 7168] to 1 of 16 experts of [28672, 7168]", dtype = "bf16", place = "aiter_fused_moe_kernel_bf16", kernel_name = "aiter_fused_moe_kernel_bf16", reason = "", roof = "the peak", attained = 0.2, good = 0.5 } } } } } },
      expect = "silent" },
    { name = "near miss: all run as good libraries do", facts = { window = { device_time = 1e9 },
                roofline = { below = { experts = { count = 0, lost = 0, remedy = true, rows = {  } } } } }, expect = "not_applicable" },
    { name = "sizes were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
