-- Device memory limits the kernels: counted, sampled, or estimated from their classes and recorded sizes, in this order. Counted kernels have a headroom
-- up to what memory can do; below that only moving less data helps, which is worth more than any counter can say.
local limited = "Kernels that are limited by device memory"
local little = "Kernels that do little arithmetic per byte"

-- Kernels that leave SMs free wait for something else, and a GPU that is mostly idle has another problem first.
local function memory_can_limit(f, t, estimated)
  if f.kernel.narrow.share and not at_most(f.kernel.narrow.share, 1 - t.min_estimated) then return false end
  if not f.budget.compute or not f.window.time then return true end
  return at_least(estimated * share(f.budget.compute, f.window.time), t.min_window_share)
end

return {
  id        = "kernel/memory-bound",
  title     = "Move less data: fuse kernels, reuse data, use smaller types",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 47,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-C5", "K-E1", "K-E3", "K-D2", "K-E2" },
  effort    = "code",

  needs      = { "counter.kernels" },
  optional   = { "kernel.time", "counter.rows", "counter.memory.lost", "counter.time", "sample.compute.dram", "sample.compute.samples",
                 "roofline.low_intensity.share", "roofline.estimates", "roofline.shapes.memory.share", "roofline.shapes.memory.top",
                 "kernel.narrow.share", "budget.compute", "window.time" },
  thresholds = { "min_weight", "min_dram", "min_samples", "min_estimated", "min_window_share", "winnable", "max_local" },

  symptom = "{kernels:text} take {weight:pct} of the kernel time{mostly:text}{name:kernel} ({part_of:text}).",
  cause   = "Each value is fetched, used a few times and written back. The kernels do fewer operations per byte than the GPU could do in the time that it takes to move the byte.",
  fixes   = {
    { action = "Fuse consecutive operations, so that values stay in registers", snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
    { action = "Use fused attention and fused normalization", snippet = "out = torch.nn.functional.scaled_dot_product_attention(q, k, v)   # is_causal=True for causal models only", language = "python", ["for"] = { "pytorch" } },
    { action = "Halve the bytes: bf16 activations, in-place operations, no copies for layout", snippet = "with torch.autocast(\"cuda\", dtype=torch.bfloat16):   # GPUs without bf16 units: torch.float16\n    out = model(x)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Load values that several threads use once into shared memory or registers (tiling), and merge kernels that read each other's results", ["for"] = { "c++" } },
    { action = "Matrix products with few rows read all weights for little work: use a larger batch, or smaller weight types", ["for"] = { "python" } },
  },
  false_positives = "Kernels whose data cannot be smaller, such as an optimizer's update or a copy that is needed.",
  references = { "ncu/roofline", "nvidia/gpu-background", "pytorch/compile" },

  applies = function(f) return f.counter.kernels > 0 or (f.kernel.time or 0) > 0, "no kernels ran, or none were recorded" end,

  detect = function(f, t)
    if f.counter.rows and #f.counter.rows > 0 then
      local rows = filter(f.counter.rows, function(row)
        return row.bound == "memory" and row.dram >= 0 and at_least(row.dram, t.min_dram) and at_most(row["local"] or -1, t.max_local)
      end)
      local weight = sum(rows, "weight")
      if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
      local worst = top(rows, "weight", 5)
      return { kernels = limited, weight = weight, mostly = 2 * worst[1].weight >= weight and ", mostly " or ", the longest of them ",
               name = worst[1].kernel, part_of = "measured by counters", dram = worst[1].dram,
               part = share(sum(rows, "lost"), f.counter.memory.lost.time), rows = worst }
    end
    local dram, samples = f.sample.compute.dram, f.sample.compute.samples
    if dram and samples and at_least(samples, t.min_samples) then
      if not at_least(dram, t.min_dram) then return nil end
      return { kernels = limited, weight = 1, mostly = "", name = "", part_of = "measured by samples of memory traffic", dram = dram, part = 0 }
    end
    local estimated = f.roofline.low_intensity.share
    local products = f.roofline.shapes.memory.share or 0
    if not estimated or not at_least(estimated, t.min_estimated) or not memory_can_limit(f, t, estimated) then return nil end
    if 2 * products > estimated then
      return { kernels = little, weight = estimated, mostly = ", mostly matrix products such as " .. f.roofline.shapes.memory.top, name = "",
               part_of = "estimated from recorded sizes and kernel classes", part = 0, rows = f.roofline.estimates }
    end
    return { kernels = little, weight = estimated, mostly = "", name = "", part_of = "estimated from kernel classes", part = 0,
             rows = f.roofline.estimates }
  end,

  -- Only counters say how far the kernels are from the limit.
  saving = function(f, t, e)
    if e.part == 0 or f.counter.memory.lost == nil then return nil end
    return { claims = f.counter.memory.lost, part = e.part * t.winnable, confidence = 0.4,
             basis = "these kernels move their bytes at the rate that memory reaches" }
  end,

  tests = {
    { name = "counted: three quarters of the memory bandwidth",
      edges = { ["counter.rows[1].dram"] = 0.6, ["counter.rows[1].weight"] = 0.1 },
      facts = { kernel = { time = 1e9 }, roofline = { low_intensity = {} }, sample = { compute = {} },
                counter = { kernels = 1, memory = { lost = 2e8 }, rows = { { kernel = "layernorm", weight = 0.7, lost = 1e8, bound = "memory", ["local"] = -1, dram = 0.75 } } } },
      expect = { weight = 0.7, part_of = "measured by counters", kernels = "Kernels that are limited by device memory", mostly = ", mostly ", name = "layernorm", dram = 0.75, part = 0.5, rows = 1 },
      saving = { claims = 2e8, part = 0.4 } },
    { name = "counted: next to nothing is spilled",
      facts = { kernel = { time = 1e9 }, roofline = { low_intensity = {} }, sample = { compute = {} },
                counter = { kernels = 1, memory = { lost = 2e8 }, rows = { { kernel = "layernorm", weight = 0.7, lost = 1e8, bound = "memory", ["local"] = 0.029, dram = 0.75 } } } },
      expect = { weight = 0.7 } },
    { name = "near miss: what is spilled takes a part of the bandwidth",
      facts = { kernel = { time = 1e9 }, roofline = { low_intensity = {} }, sample = { compute = {} },
                counter = { kernels = 1, memory = { lost = 2e8 }, rows = { { kernel = "layernorm", weight = 0.7, lost = 1e8, bound = "memory", ["local"] = 0.031, dram = 0.75 } } } },
      expect = "silent" },
    { name = "sampled",
      edges = { ["sample.compute.samples"] = 50 }, facts = { kernel = { time = 1e9 }, counter = { kernels = 0 }, sample = { compute = { dram = 0.7, samples = 1000 } } },
      expect = { weight = 1, dram = 0.7, part_of = "measured by samples of memory traffic" } },
    { name = "estimated: element-wise kernels take most of the time",
      edges = { ["roofline.low_intensity.share"] = 0.6 },
      facts = { kernel = { time = 1e9 }, counter = { kernels = 0 }, sample = { compute = {} },
                roofline = { low_intensity = { share = 0.8 }, estimates = { { class = "elementwise", time = 8e8 } } } },
      expect = { kernels = "Kernels that do little arithmetic per byte", weight = 0.8, part_of = "estimated from kernel classes", rows = 1 } },
    { name = "near miss: one block at a time waits for latency, not for memory bandwidth",
      facts = { kernel = { time = 1e9, narrow = { share = 1 } }, counter = { kernels = 0 }, sample = { compute = {} },
                roofline = { low_intensity = { share = 0.8 }, estimates = { { class = "reduction", time = 8e8 } } } },
      expect = "silent" },
    { name = "near miss: a GPU that is idle nearly all of the time",
      edges = { ["budget.compute"] = 3e8 },
      facts = { kernel = { time = 1e7, narrow = { share = 0 } }, window = { time = 1e9 }, budget = { compute = 1e7 }, counter = { kernels = 0 },
                sample = { compute = {} }, roofline = { low_intensity = { share = 1 }, estimates = { { class = "elementwise", time = 1e7 } } } },
      expect = "silent" },
    { name = "estimated: sizes show that the products read all weights for a row",
      facts = { kernel = { time = 1e9 }, counter = { kernels = 0 }, sample = { compute = {} },
                roofline = { low_intensity = { share = 0.8 }, estimates = { { class = "elementwise", time = 2e8 } },
                             shapes = { memory = { share = 0.6, top = "aten::mm [1, 4096] x [4096, 4096] in bf16" } } } },
      expect = { weight = 0.8, part_of = "estimated from recorded sizes and kernel classes",
                 mostly = ", mostly matrix products such as aten::mm [1, 4096] x [4096, 4096] in bf16", name = "" } },
    { name = "near miss: products that memory limits are too few",
      facts = { kernel = { time = 1e9 }, counter = { kernels = 0 }, sample = { compute = {} },
                roofline = { low_intensity = { share = 0.5 }, shapes = { memory = { share = 0.4, top = "aten::mm" } } } },
      expect = "silent" },
    { name = "near miss: memory busy in the cache only",
      facts = { kernel = { time = 1e9 }, sample = { compute = {} }, roofline = { low_intensity = { share = 0.9 } },
                counter = { kernels = 1, memory = { lost = 2e8 }, rows = { { kernel = "gemm", weight = 0.7, lost = 1e8, bound = "memory", ["local"] = -1, dram = 0.2 } } } },
      expect = "silent" },
    { name = "near miss: samples of memory at rest",
      facts = { kernel = { time = 1e9 }, counter = { kernels = 0 }, sample = { compute = { dram = 0.2, samples = 1000 } },
                roofline = { low_intensity = { share = 0.9 } } },
      expect = "silent" },
    { name = "near miss: a few element-wise kernels", facts = { kernel = { time = 1e9 }, counter = { kernels = 0 }, sample = { compute = {} },
                roofline = { low_intensity = { share = 0.3 } } }, expect = "silent" },
    { name = "no kernels", facts = { kernel = { time = 0 }, counter = { kernels = 0 } }, expect = "not_applicable" },
    { name = "kernels were not recorded", facts = { counter = { kernels = 0 } }, expect = "not_applicable" },
  },
}
