-- Memory limits the kernel, and the second-level cache serves little of it. Kernels that stream through their data once cannot do better;
-- products, convolutions and attention can, since they use each value many times.
return {
  id        = "kernel/low-l2-hit",
  title     = "Reorder the work so that the L2 cache can reuse data",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 46,
  knowledge = { "K-D4" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.memory.lost" },
  thresholds = { "max_hit", "min_weight", "winnable" },

  symptom = "Kernels that are limited by memory and find little in the L2 cache take {weight:pct} of the kernel time: the L2 hit rate of {name:kernel} is {hit:pct}.",
  cause   = "If the algorithm uses values several times, blocks that run at the same time work on distant parts of the data, and each fetches its own copy. Where each value is used once, as in a product with a vector, a low rate is right.",
  fixes   = {
    { action = "Change the order in which blocks take their tiles, so that neighbors share rows and columns",
      snippet = "// groups of 8 rows of tiles, column by column\nconst int group = blockIdx.x / (8 * tiles_n);\nconst int row = group * 8 + blockIdx.x % 8;\nconst int col = blockIdx.x % (8 * tiles_n) / 8;", language = "cpp", ["for"] = { "c++" } },
    { action = "Use larger tiles in shared memory and registers, so that each value is fetched fewer times" },
    { action = "Use a library's kernel for matrix products and convolutions" },
  },
  false_positives = "Kernels whose data is used only once, whatever their name says.",
  references = { "ncu/profiling-guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "memory" and row.l2_hit >= 0 and at_most(row.l2_hit, t.max_hit)
        and (row.class == "matrix" or row.class == "convolution" or row.class == "attention")
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    return { weight = weight, count = #rows, name = first.kernel, hit = first.l2_hit, part = share(sum(rows, "lost"), f.counter.memory.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.memory.lost, part = e.part * t.winnable, confidence = 0.3,
             basis = "memory-bound kernels use part of the headroom that counters show" }
  end,

  tests = {
    { name = "a product that misses nine of ten",
      edges = { ["counter.rows[1].l2_hit"] = 0.2, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", l2_hit = 0.1, class = "matrix" } } } },
      expect = { weight = 0.6, name = "stencil", hit = 0.1, part = 0.5 },
      saving = { claims = 4e8, part = 0.25 } },
    { name = "near miss: a kernel that streams",
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", l2_hit = 0.02, class = "elementwise" } } } },
      expect = "silent" },
    { name = "near miss: half are found",
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", l2_hit = 0.5, class = "matrix" } } } },
      expect = "silent" },
    { name = "near miss: memory is not the limit",
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", l2_hit = 0.1, class = "matrix" } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, memory = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
