-- The last, partial wave of blocks keeps the GPU half empty at the end of each kernel.
-- The fact is an upper bound (blocks of one kernel differ in length, and the next kernel may start early), so the rule asks for
-- much, claims half of it, and is not very sure. Where a kernel profiler counted the waves, they are right for the registers and the shared memory
-- of the kernel, and the rule is surer. Only kernels of the program itself count: libraries and frameworks choose the grids of
-- theirs, weigh waves against tile size, and what moves data keeps the memory busy with half of the SMs.

local function own(rows)
  return filter(rows, function(row) return row.class == "application" or row.class == "other" end)
end

return {
  id        = "kernel/tail-wave",
  title     = "Choose grids that fill whole waves of SMs",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 50,
  explains  = { "kernel/hot", "kernel/low-sm-active", "step/low-mfu" },
  knowledge = { "K-F2" },
  effort    = "code",

  needs      = { "kernel.tail.share", "kernel.tail.rows", "kernel.tail.lost", "budget.compute", "window.time",
                 "window.device_time" },
  optional   = { "kernel.tail.counted" },
  thresholds = { "min_share", "min_wasted", "realistic_part" },

  symptom = "Last waves that are partly empty cost up to {share:pct} of the time: {name:kernel} runs {waves:num} waves of blocks.",
  cause   = "The last blocks of such a kernel run while most SMs are idle: blocks run in waves as wide as the GPU, and a wave of few blocks takes as long as a full one.",
  fixes   = {
    { action = "Launch exactly as many blocks as fit, and let each block loop over tiles (a persistent kernel)",
      snippet = "int blocks_per_sm, sms;\ncudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, kernel, threads, 0);\n" ..
                "cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);\n" ..
                "kernel<<<blocks_per_sm * sms, threads>>>(tiles);  // for (t = blockIdx.x; t < tiles; t += gridDim.x)",
      language = "cpp", ["for"] = { "c++" } },
    { action = "Set the number of blocks of the region to a whole number of waves: num_gangs (OpenACC) or num_teams (OpenMP), and vector_length or thread_limit", ["for"] = { "openacc", "openmp" } },
    { action = "Change the problem or tile size so that the number of blocks is just below a whole number of waves, not just above" },
    { action = "Let a compiler choose the tiles of generated kernels",
      snippet = "model = torch.compile(model, mode=\"max-autotune\")", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Blocks of very different length, or a following kernel that fills the last wave.",
  references = { "nvidia/tensor-core-alignment", "nvidia/gpu-background" },

  applies = function(f) return f.kernel.tail.share > 0, "no large kernel ends in a partial wave" end,

  detect = function(f, t)
    local tail = f.kernel.tail
    local rows = own(tail.rows)
    local all = tail.share * share(f.budget.compute, f.window.time)
    local part = share(sum(rows, "time"), sum(tail.rows, "time"))
    local wasted = share(all * f.window.device_time, tail.lost.time)
    if not at_least(all * part, t.min_share) or not at_least(wasted, t.min_wasted) then return nil end
    local worst = top(rows, "time", 5)
    return { share = all * part, wasted = wasted, part = part, name = worst[1].name, waves = worst[1].waves, counted = tail.counted or 0,
             rows = worst }
  end,

  saving = function(f, t, e)
    return { claims = f.kernel.tail.lost, part = e.part * e.wasted * t.realistic_part, confidence = 0.3 + 0.2 * e.counted,
             basis = "half of the most that partial last waves can waste is gone" }
  end,

  tests = {
    { name = "1.1 waves: nearly half of a kernel that takes half the time",
      edges = { ["budget.compute"] = 6e8 },
      facts = { window = { time = 1e9, device_time = 2e9 }, budget = { compute = 8e8 },
                kernel = { tail = { share = 0.25, lost = 1e9, rows = { { name = "stencil", class = "other", waves = 1.1, count = 100, time = 1e9 } } } } },
      expect = { share = 0.2, wasted = 0.4, part = 1, name = "stencil", waves = 1.1, rows = 1 },
      saving = { claims = 1e9, part = 0.2, confidence = 0.3 } },
    { name = "the same, with the waves counted by a kernel profiler",
      facts = { window = { time = 1e9, device_time = 2e9 }, budget = { compute = 8e8 },
                kernel = { tail = { share = 0.25, lost = 1e9, counted = 1, rows = { { name = "stencil", class = "other", waves = 1.1, count = 100, time = 1e9 } } } } },
      expect = { share = 0.2, counted = 1 },
      saving = { claims = 1e9, part = 0.2, confidence = 0.5 } },
    { name = "near miss: a matrix kernel of a library, which was chosen with its waves in mind",
      facts = { window = { time = 1e9, device_time = 1e9 }, budget = { compute = 1e9 },
                kernel = { tail = { share = 0.24, lost = 6e8, rows = { { name = "gemm", class = "matrix", waves = 1.2, count = 100, time = 6e8 } } } } },
      expect = "silent" },
    { name = "near miss: a normalization of a library, which memory limits",
      facts = { window = { time = 1e9, device_time = 1e9 }, budget = { compute = 1e9 },
                kernel = { tail = { share = 0.24, lost = 6e8, rows = { { name = "bn_bw", class = "normalization", waves = 1.04, count = 100, time = 6e8 } } } } },
      expect = "silent" },
    { name = "near miss: 2.4 waves waste a fifth of the kernel",
      facts = { window = { time = 1e9, device_time = 1e9 }, budget = { compute = 1e9 },
                kernel = { tail = { share = 0.12, lost = 6e8, rows = { { name = "stencil", class = "other", waves = 2.4, count = 100, time = 6e8 } } } } },
      expect = "silent" },
    { name = "near miss: a bad wave in a kernel of little time",
      edges = { ["budget.compute"] = 2e9 },
      facts = { window = { time = 1e9, device_time = 1e9 }, budget = { compute = 1e9 },
                kernel = { tail = { share = 0.04, lost = 9e7, rows = { { name = "stencil", class = "other", waves = 1.1, count = 100, time = 9e7 } } } } },
      expect = "silent" },
    { name = "whole waves only",
      facts = { window = { time = 1e9, device_time = 1e9 }, budget = { compute = 1e9 },
                kernel = { tail = { share = 0, lost = 0, rows = {} } } },
      expect = "not_applicable" },
    { name = "the number of SMs is not known", facts = { window = { time = 1e9, device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
