-- Mixtures of experts whose products take much longer than good libraries take: measured by recorded sizes.
local why = {
  ["few-tiles"] = "Tokens, spread over the experts, give fewer tiles than the GPU has SMs.",
  ["few-uses"] = "Few tokens reach each expert, so that its weights are read for little work.",
  [""] = "Experts get unequal numbers of tokens, or the kernel was not tuned for these sizes.",
}

-- Operators of which this much could be won, and the advice for each reason among them.
local function given(rows, reason, text)
  for _, row in ipairs(rows) do
    if row.reason == reason or reason == "*" then return text end
  end
  return ""
end

return {
  id        = "kernel/slow-experts",
  title     = "Bring the products of experts closer to their roof",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 57,
  explains  = { "kernel/hot" },
  knowledge = { "K-E1", "K-C5" },
  effort    = "code",

  needs      = { "roofline.below.experts.rows", "roofline.below.experts.count", "roofline.below.experts.lost", "roofline.below.experts.remedy", "window.device_time" },
  thresholds = { "min_share" },

  symptom = "{op:text} {shape:text} in {dtype:text} reaches {attained:pct} of {roof:text}, good libraries reach {good:pct} (kernel {kernel:text}{source:text}). " ..
            "Beyond what good libraries need, mixtures of experts take {share:pct} of the time.",
  cause   = "{why:text}",
  fixes   = {
    { action = "{do_tune:text}",
      snippet = "python benchmarks/kernels/benchmark_moe.py --tune", language = "bash" },
    { action = "{do_batch:text}" },
    { action = "{do_weights:text}" },
    { action = "Measure the kernel: ncu tells which unit or which wait holds it back",
      snippet = "ncu --set full --kernel-name regex:NAME --launch-count 3 -o slow COMMAND", language = "bash" },
  },
  false_positives = "Routing that differs much from even: how tokens were spread is not recorded.",
  references = { "nvidia/gpu-background" },

  applies = function(f) return f.roofline.below.experts.count > 0, "none of them stays far below its roof" end,

  detect = function(f, t)
    local below = f.roofline.below.experts
    local lost = share(below.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    local rows = top(below.rows, "recoverable", 5)
    local first = rows[1]
    if first == nil then return nil end
    local evidence = { share = lost, count = below.count, op = first.op, shape = first.shape, dtype = first.dtype, kernel = first.kernel,
                       source = first.source ~= "" and ", from " .. first.source or "", attained = first.attained,
                       good = math.min(1, share(first.attained, first.reached)), roof = first.side == "memory" and "the memory rate" or "the peak",
                       reason = first.reason, why = why[first.reason] or why[""], rows = rows }
    evidence.do_tune = given(rows, "*", "Tune the kernel for these sizes: serving engines keep a table of tile sizes per GPU, and warn when it has no entry")
    evidence.do_batch = given(rows, "few-uses", "Run more tokens at once, or spread experts over GPUs (expert parallelism), so that each expert has more of them")
    evidence.do_weights = given(rows, "few-tiles", "Store the weights in fewer bytes (FP8, FP4)")
    return evidence
  end,

  saving = function(f)
    return { claims = f.roofline.below.experts.lost, remedy = f.roofline.below.experts.remedy, confidence = 0.5,
             basis = "what these kernels take beyond the time that good libraries take for the same sizes" }
  end,

  tests = {
    { name = "half of the time could be won",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { experts = { count = 10, lost = 4.8e8, remedy = true, rows = { { op = "vllm::rocm_aiter_fused_moe", shape = "[512, 7168] to 1 of 16 experts of [28672, 7168]", dtype = "bf16", kernel = "aiter_fused_moe_kernel_bf16", source = "", reason = "", side = "compute", attained = 0.2, reached = 0.4, time = 8e8, recoverable = 4.8e8 } } } } } },
      expect = { share = 0.48, attained = 0.2, good = 0.5, op = "vllm::rocm_aiter_fused_moe", reason = "", roof = "the peak", rows = 1 },
      saving = { claims = 4.8e8 } },
    { name = "near miss: too little to win",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { experts = { count = 10, lost = 5e6, remedy = true, rows = { { op = "vllm::rocm_aiter_fused_moe", shape = "[512, 7168] to 1 of 16 experts of [28672, 7168]", dtype = "bf16", kernel = "aiter_fused_moe_kernel_bf16", source = "", reason = "", side = "compute", attained = 0.2, reached = 0.4, time = 8e8, recoverable = 4.8e8 } } } } } },
      expect = "silent" },
    { name = "near miss: all run as good libraries do", facts = { window = { device_time = 1e9 },
                roofline = { below = { experts = { count = 0, lost = 0, remedy = true, rows = {  } } } } }, expect = "not_applicable" },
    { name = "sizes were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
