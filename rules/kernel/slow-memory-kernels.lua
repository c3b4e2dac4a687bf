-- Normalizations, softmax, reductions, element-wise kernels, copies and look-ups that take much longer than their bytes
-- need at the rate that such kernels reach: measured by recorded sizes.
local why = {
  ["strided"] = "Its tensors lie in different orders, so that one of them is walked in strides and most of each fetched piece is not used.",
  ["short-rows"] = "Rows are so short that most threads of a block have nothing to do.",
  ["long-rows"] = "There are few rows, and each is long: few blocks work, one after another on the same row.",
  ["not-vectorized"] = "The kernel moves one element at a time: addresses, types or strides did not allow wide loads.",
  ["small"] = "Each kernel moves little, and is over before the memory is at its full rate.",
  [""] = "Sizes do not tell why: more passes over the data than it needs, atomic updates, or other kernels that compete for the memory.",
}

-- Operators of which this much could be won, and the advice for each reason among them.
local function given(rows, reason, text)
  for _, row in ipairs(rows) do
    if row.reason == reason or reason == "*" then return text end
  end
  return ""
end

return {
  id        = "kernel/slow-memory-kernels",
  title     = "Bring kernels that move data closer to the memory rate",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 56,
  explains  = { "kernel/hot" },
  knowledge = { "K-E1", "K-C5", "K-D2" },
  effort    = "code",

  needs      = { "roofline.below.memory.rows", "roofline.below.memory.count", "roofline.below.memory.lost", "roofline.below.memory.remedy", "window.device_time" },
  thresholds = { "min_share" },

  symptom = "{op:text} {shape:text} in {dtype:text} reaches {attained:pct} of {roof:text}, good libraries reach {good:pct} (kernel {kernel:text}{source:text}). " ..
            "Beyond what good libraries need, such operators take {share:pct} of the time.",
  cause   = "{why:text}",
  fixes   = {
    { action = "{do_layout:text}",
      snippet = "x = x.contiguous()", language = "python" },
    { action = "{do_fuse:text}",
      snippet = "model = torch.compile(model)", language = "python" },
    { action = "{do_rows:text}" },
    { action = "{do_many:text}" },
    { action = "{do_align:text}" },
    { action = "Measure the kernel: ncu tells which unit or which wait holds it back",
      snippet = "ncu --set full --kernel-name regex:NAME --launch-count 3 -o slow COMMAND", language = "bash" },
  },
  false_positives = "Kernels that share the memory with others on the same GPU.",
  references = { "nvidia/gpu-background", "pytorch/compile" },

  applies = function(f) return f.roofline.below.memory.count > 0, "none of them stays far below its roof" end,

  detect = function(f, t)
    local below = f.roofline.below.memory
    local lost = share(below.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    local rows = top(below.rows, "recoverable", 5)
    local first = rows[1]
    if first == nil then return nil end
    local evidence = { share = lost, count = below.count, op = first.op, shape = first.shape, dtype = first.dtype, kernel = first.kernel,
                       source = first.source ~= "" and ", from " .. first.source or "", attained = first.attained,
                       good = math.min(1, share(first.attained, first.reached)), roof = first.side == "memory" and "the memory rate" or "the peak",
                       reason = first.reason, why = why[first.reason] or why[""], rows = rows }
    evidence.do_layout = given(rows, "strided", "Keep one layout throughout, and copy once where it must change")
    evidence.do_fuse = given(rows, "*", "Compile the part of the model around it: fused kernels move each value once")
    evidence.do_rows = given(rows, "short-rows", "Use a kernel that works on many short rows per block (Triton, Apex, Liger), or put the short dimension elsewhere")
    evidence.do_many = given(rows, "small", "Join many small tensors into one operation (foreach, cat)")
    evidence.do_align = given(rows, "not-vectorized", "Align slices to 16 bytes, and keep both operands in the same type")
    return evidence
  end,

  saving = function(f)
    return { claims = f.roofline.below.memory.lost, remedy = f.roofline.below.memory.remedy, confidence = 0.5,
             basis = "what these kernels take beyond the time that good libraries take for the same sizes" }
  end,

  tests = {
    { name = "half of the time could be won",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { memory = { count = 10, lost = 4.8e8, remedy = true, rows = { { op = "aten::add", shape = "[8192, 8192]", dtype = "fp32", kernel = "vectorized_elementwise_kernel<CUDAFunctor_add>", source = "", reason = "", side = "memory", attained = 0.2, reached = 0.4, time = 8e8, recoverable = 4.8e8 } } } } } },
      expect = { share = 0.48, attained = 0.2, good = 0.5, op = "aten::add", reason = "", roof = "the memory rate", rows = 1 },
      saving = { claims = 4.8e8 } },
    { name = "near miss: too little to win",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { memory = { count = 10, lost = 5e6, remedy = true, rows = { { op = "aten::add", shape = "[8192, 8192]", dtype = "fp32", kernel = "vectorized_elementwise_kernel<CUDAFunctor_add>", source = "", reason = "", side = "memory", attained = 0.2, reached = 0.4, time = 8e8, recoverable = 4.8e8 } } } } } },
      expect = "silent" },
    { name = "near miss: all run as good libraries do", facts = { window = { device_time = 1e9 },
                roofline = { below = { memory = { count = 0, lost = 0, remedy = true, rows = {  } } } } }, expect = "not_applicable" },
    { name = "sizes were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
