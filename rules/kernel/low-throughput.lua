-- Neither the SMs nor memory come near their peak: the kernel waits. For what, the rules of its stalls, its warps and its accesses say.
return {
  id        = "kernel/low-throughput",
  title     = "Find out what the longest kernels wait for",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  priority  = 28,
  knowledge = { "K-D1", "K-D2" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.latency.lost" },
  thresholds = { "max_sm", "max_memory", "min_weight", "winnable", "full_enough" },

  symptom = "Kernels that are far from every limit of the GPU take {weight:pct} of the kernel time: {name:kernel} reaches {sm:pct} of the peak of the SMs and {memory:pct} of the peak of memory.",
  cause   = "{why:text}",
  fixes   = {
    { action = "Collect the stalls of these kernels: they name what to change, and the saving is that of the change", snippet = "ncu --set full --kernel-name 'regex:{name:function}' --launch-count 3 --csv --page raw --print-units base -- COMMAND > kernels.csv",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Give each launch more work: a larger batch, or several inputs in one kernel" },
    { action = "Replace the kernel with one from a library or a compiler if there is one", snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Kernels of a few microseconds, which are small by nature.",
  references = { "ncu/profiling-guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "latency" and row.sm >= 0 and row.memory >= 0 and at_most(row.sm, t.max_sm) and at_most(row.memory, t.max_memory) and at_most(row.l1, t.max_memory)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    local why = "There is too little parallelism to hide latency, the grid is too small, or instructions depend on each other."
    if at_least(first.occupancy, t.full_enough) then
      why = "Warps fill the SMs (occupancy " .. in_words(first.occupancy, "pct") .. "), so parallelism is not what is missing: each warp waits for memory, for a barrier or for its own instructions."
    end
    return { why = why, weight = weight, count = #rows, name = first.kernel, sm = first.sm, memory = first.memory, part = share(sum(rows, "lost"), f.counter.latency.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.latency.lost, part = e.part * t.winnable, confidence = 0.3,
             basis = "kernels that are far from every limit use the headroom that counters show" }
  end,

  tests = {
    { name = "a kernel at a tenth of everything",
      edges = { ["counter.rows[1].memory"] = 0.5, ["counter.rows[1].sm"] = 0.5, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", sm = 0.1, memory = 0.15, l1 = 0.2, occupancy = 0.3 } } } },
      expect = { weight = 0.6, name = "stencil", sm = 0.1, memory = 0.15, part = 0.5 },
      saving = { claims = 4e8, part = 0.15 } },
    { name = "warps fill the SMs, and wait",
      edges = { ["counter.rows[1].occupancy"] = 0.6 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", sm = 0.1, memory = 0.15, l1 = 0.2, occupancy = 0.63 } } } },
      expect = { why = "Warps fill the SMs (occupancy 63 %), so parallelism is not what is missing: each warp waits for memory, for a barrier or for its own instructions." } },
    { name = "near miss: the first-level cache is half busy",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", sm = 0.23, memory = 0.28, l1 = 0.56, occupancy = 0.94 } } } },
      expect = "silent" },
    { name = "near miss: memory at nine tenths",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", sm = 0.1, memory = 0.9, l1 = 0.2, occupancy = 0.3 } } } },
      expect = "silent" },
    { name = "near miss: its first-level cache is full",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "row_sums", weight = 0.6, lost = 0, bound = "memory", sm = 0.06, memory = 0.49, l1 = 0.2, occupancy = 0.3 } } } },
      expect = "silent" },
    { name = "near miss: a kernel of little time",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.05, lost = 200000000.0, bound = "latency", sm = 0.1, memory = 0.1, l1 = 0.2, occupancy = 0.3 } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, latency = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
