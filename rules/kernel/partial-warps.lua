-- Threads run in groups of 32. A block of 48 threads takes two groups, the second half empty; its idle lanes cost as
-- much as working ones.
return {
  id        = "kernel/partial-warps",
  title     = "Make block sizes multiples of 32 threads",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 59,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-F2", "K-H2" },

  needs      = { "window.device_time", "kernel.partial_warp.share", "kernel.partial_warp.waste", "kernel.partial_warp.rows",
                 "kernel.partial_warp.lost", "kernel.partial_warp.remedy" },
  thresholds = { "min_waste" },

  symptom = "Kernels whose block size is not a multiple of 32 threads take {share:pct} of the compute time, for example {name:kernel} with {threads:count}. Their empty lanes waste {waste:pct} of the compute time.",
  cause   = "The block size follows the problem, not the width of a warp.",
  fixes   = {
    { action  = "Round the block size up and let spare threads return",
      snippet = [[const int threads = (block_size + 31) / 32 * 32;
kernel<<<blocks, threads>>>(data, n);          // if (i >= n) return;]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Give several rows to one block, so that it fills whole warps" },
  },
  false_positives = "Kernels bound by memory, whose idle lanes cost little.",
  references = { "cuda-best-practices/occupancy" },

  applies = function(f)
    return f.kernel.partial_warp.share > 0, "all block sizes are multiples of 32 threads"
  end,

  detect = function(f, t)
    if not at_least(f.kernel.partial_warp.waste, t.min_waste) then return nil end
    local first = f.kernel.partial_warp.rows[1]
    return { share = f.kernel.partial_warp.share, waste = f.kernel.partial_warp.waste, name = first.name, threads = first.threads, rows = top(f.kernel.partial_warp.rows, "time", 5) }
  end,

  saving = { claims = "kernel.partial_warp.lost", remedy = "kernel.partial_warp.remedy", confidence = 0.4,
             basis = "all lanes do work" },

  tests = {
    { name = "blocks of 48 threads",
      edges = { ["kernel.partial_warp.waste"] = 0.02 },
      facts = { window = { device_time = 1e9 }, kernel = { partial_warp = { share = 0.4, waste = 0.1, rows = { { name = "stencil", count = 100, time = 4e8, threads = 48 } }, lost = 4e8, remedy = true } } },
      expect = { waste = 0.1, threads = 48 },
      saving = { claims = 4e8 } },
    { name = "near miss: 1000 threads of 1024",
      facts = { window = { device_time = 1e9 }, kernel = { partial_warp = { share = 0.4, waste = 0.01, rows = { { name = "stencil", count = 100, time = 4e8, threads = 1000 } }, lost = 4e8, remedy = true } } },
      expect = "silent" },
    { name = "whole warps",
      facts = { kernel = { partial_warp = { share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels",
      facts = {},
      expect = "cannot_tell" },
  },
}
