-- One kernel takes most of the GPU's busy time.
-- That is no fault by itself: a tuned training step spends half its time in matrix products. It says where work on kernels
-- pays, so it is a symptom and claims nothing.
return {
  id        = "kernel/hot",
  title     = "Start with the kernel that dominates",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  knowledge = { "K-A7", "K-L9", "K-N6" },
  effort    = "code",
  topic     = "hottest-kernel",

  needs      = { "kernel.top", "budget.compute", "window.time" },
  optional   = { "op.of_top_kernel", "roofline.shapes.hot.top", "roofline.shapes.hot.attained", "roofline.shapes.hot.side" },
  thresholds = { "min_share", "min_window_share" },

  symptom = "One kernel, {name:kernel}, takes {share:pct} of the kernel time: {count:count} launches of {median:time}{each:text}{op_text:text}{rate:text}.",
  cause   = "This kernel mostly sets how long the GPU is busy. Work on any other kernel gains less.",
  fixes   = {
    { action = "Profile this kernel with Nsight Compute before you change it: the profile says whether memory, compute or latency limits it",
      snippet = "ncu --set full --kernel-name 'regex:^{name:function}$' \\\n" ..
                "    --launch-skip 20 --launch-count 3 -o hot -- COMMAND",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Profile this kernel with rocprof-compute before you change it: the profile says whether memory, compute or latency limits it",
      snippet = "rocprof-compute profile --name hot --kernel {name:function} -- COMMAND", language = "bash", ["for"] = { "amd" } },
    { action = "If the kernel comes from a library (cuBLAS, cuDNN, attention), change what you ask of the library: 16-bit types, sizes that are multiples of 64, a larger batch" },
    { action = "If the kernel is generated or written by hand, let a compiler fuse it with the kernels next to it",
      snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "A matrix or attention kernel that already runs near the peak of the GPU.",
  references = { "ncu/profiling-guide", "nvidia/gpu-background" },

  applies = function(f) return #f.kernel.top > 0, "no kernels ran" end,

  detect = function(f, t)
    local hot = top(f.kernel.top, "time", 1)[1]
    if hot.class == "communication" then return nil end
    local window_share = hot.share * share(f.budget.compute, f.window.time)
    if not at_least(hot.share, t.min_share) or not at_least(window_share, t.min_window_share) then return nil end
    local op = f.op.of_top_kernel
    local known = f.roofline.shapes.hot
    local rate = ""
    if known.top and known.attained and known.side then
      rate = "; for the recorded sizes, it reaches about " .. in_words(known.attained, "pct") .. " of what the GPU's " ..
             (known.side == "memory" and "memory" or "peak") .. " allows (most of the time in " .. known.top .. ")"
    end
    return { rate = rate, name = hot.name, class = hot.class, operator = op, op_text = op and (hot.count > 1 and ", most of them from " or ", from ") .. op or "", share = hot.share, window_share = window_share, count = hot.count, each = hot.count > 1 and " (median)" or "",
             median = hot.median, rows = top(f.kernel.top, "time", 5) }
  end,

  tests = {
    { name = "one matrix kernel takes 88 % of the kernel time",
      edges = { ["budget.compute"] = 3.41e8, ["kernel.top[2].share"] = 0.5 },
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 },
                kernel = { top = { { name = "softmax", class = "softmax", count = 100, time = 1e8, share = 0.12, median = 1e6 },
                                   { name = "sgemm_128x64", class = "matrix", count = 200, time = 8e8, share = 0.88, median = 4e6 } } } },
      expect = { name = "sgemm_128x64", op_text = "", share = 0.88, window_share = 0.792, count = 200,
                 rows = { { name = "sgemm_128x64" }, { name = "softmax" } } } },
    { name = "a framework's trace names the operator",
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 }, op = { of_top_kernel = "aten::mm" },
                kernel = { top = { { name = "sgemm_128x64", class = "matrix", count = 200, time = 8e8, share = 0.88, median = 4e6 } } } },
      expect = { operator = "aten::mm", op_text = ", most of them from aten::mm", each = " (median)" } },
    { name = "a kernel that is launched once",
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 },
                kernel = { top = { { name = "reduce", class = "other", count = 1, time = 9e8, share = 1, median = 9e8 } } } },
      expect = { count = 1, each = "" } },
    { name = "recorded sizes tell how near it is to its limit",
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 }, op = { of_top_kernel = "aten::mm" },
                roofline = { shapes = { hot = { top = "aten::mm [64, 64] x [64, 64] in bf16", attained = 0.12, side = "compute" } } },
                kernel = { top = { { name = "gemm", class = "matrix", count = 200, time = 8e8, share = 0.88, median = 4e6 } } } },
      expect = { rate = "; for the recorded sizes, it reaches about 12 % of what the GPU's peak allows (most of the time in aten::mm [64, 64] x [64, 64] in bf16)" } },
    { name = "near miss: the largest kernel takes 45 %",
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 },
                kernel = { top = { { name = "gemm", class = "matrix", count = 10, time = 4.5e8, share = 0.45, median = 4e7 } } } },
      expect = "silent" },
    { name = "near miss: it dominates, but the GPU is busy for a tenth of the time only",
      facts = { window = { time = 1e9 }, budget = { compute = 1e8 },
                kernel = { top = { { name = "gemm", class = "matrix", count = 10, time = 9e7, share = 0.9, median = 9e6 } } } },
      expect = "silent" },
    { name = "near miss: the kernel that dominates waits for other GPUs",
      facts = { window = { time = 1e9 }, budget = { compute = 3e8 },
                kernel = { top = { { name = "ncclDevKernel_AllReduce", class = "communication", count = 10, time = 6e8,
                                     share = 0.66, median = 6e7 } } } },
      expect = "silent" },
    { name = "no kernels", facts = { window = { time = 1e9 }, budget = { compute = 0 }, kernel = { top = {} } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
