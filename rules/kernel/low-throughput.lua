-- Neither the SMs nor memory come near their peak: the kernel waits. For what, the rules of its stalls, its warps and its accesses say.
-- What the counters leave as reasons, and what they do not say yet.
local function reasons_of(row, t)
  local counted = row.occupancy >= 0
  local full = counted and at_least(row.occupancy, t.many_warps)
  local stalls = row.stall_memory >= 0
  local why
  if full then
    why = "Warps wait although they fill " .. in_words(row.occupancy, "pct") .. " of the warp slots of an SM: for memory, for each other, or for their own last results."
  elseif row.waves >= 1 then
    why = "There are blocks for every SM, but too few warps at a time to hide latency, or instructions depend on each other."
  else
    why = "There is too little parallelism to hide latency, the grid is too small, or instructions depend on each other."
  end
  local ways = {}
  local what = not stalls and not counted and "the stalls and the occupancy" or not stalls and "the stalls" or not counted and "the occupancy" or nil
  if what then table.insert(ways, { reason = "unmeasured" }) end
  table.insert(ways, { reason = full and "full" or "few" })
  return why, what or "", ways
end

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
  thresholds = { "max_sm", "max_memory", "min_weight", "many_warps", "winnable" },

  symptom = "Kernels that are far from every limit of the GPU take {weight:pct} of the kernel time: {name:kernel} reaches {sm:pct} of the SMs' peak and {memory:pct} of the memory peak{l1:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "unmeasured", action = "Collect {what:text} of these kernels", snippet = "ncu --set full --kernel-name 'regex:^{name:function}$' --launch-count 3 --csv --page raw --print-units base -- COMMAND > kernels.csv",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "full", action = "Give each thread several independent results to work on, so that one waits while the others go on" },
    { reason = "few", action = "Give each launch more work: a larger batch, or several inputs in one kernel" },
    { action = "Replace the kernel with one from a library or a compiler if there is one", snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Kernels of a few microseconds, which are small by nature.",
  references = { "ncu/profiling-guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "latency" and row.sm >= 0 and row.memory >= 0 and at_most(row.sm, t.max_sm) and at_most(row.memory, t.max_memory)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    local why, what, ways = reasons_of(first, t)
    local l1 = first.l1 > math.max(first.sm, first.memory) and ", and " .. in_words(first.l1, "pct") .. " of the L1 cache's peak" or ""
    return { why = why, what = what, ways = ways, l1 = l1, weight = weight, count = #rows, name = first.kernel, sm = first.sm, memory = first.memory, part = share(sum(rows, "lost"), f.counter.latency.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.latency.lost, part = e.part * t.winnable, confidence = 0.3,
             basis = "kernels that are far from every limit use the headroom that counters show" }
  end,

  tests = {
    { name = "a kernel at a tenth of everything",
      edges = { ["counter.rows[1].memory"] = 0.5, ["counter.rows[1].sm"] = 0.5, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", sm = 0.1, memory = 0.15, l1 = -1, occupancy = -1, waves = -1, stall_memory = -1 } } } },
      expect = { weight = 0.6, name = "stencil", sm = 0.1, memory = 0.15, part = 0.5 },
      saving = { claims = 4e8, part = 0.15 } },
    { name = "the warps are there: occupancy is no reason, and needs not be collected",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", sm = 0.23, memory = 0.28, l1 = 0.56, occupancy = 0.94, waves = 8, stall_memory = -1 } } } },
      expect = { what = "the stalls", ways = { { reason = "unmeasured" }, { reason = "full" } }, l1 = ", and 56 % of the L1 cache's peak",
                 why = "Warps wait although they fill 94 % of the warp slots of an SM: for memory, for each other, or for their own last results." } },
    { name = "few warps on each SM, and all is counted",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", sm = 0.1, memory = 0.15, l1 = 0.1, occupancy = 0.2, waves = 8, stall_memory = 0.3 } } } },
      expect = { what = "", ways = { { reason = "few" } }, l1 = "",
                 why = "There are blocks for every SM, but too few warps at a time to hide latency, or instructions depend on each other." } },
    { name = "six tenths of the warps are no full SM",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", sm = 0.1, memory = 0.15, l1 = 0.1, occupancy = 0.6, waves = 8, stall_memory = 0.3 } } } },
      expect = { ways = { { reason = "few" } } } },
    { name = "near miss: memory at nine tenths",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", sm = 0.1, memory = 0.9, l1 = -1, occupancy = -1, waves = -1, stall_memory = -1 } } } },
      expect = "silent" },
    { name = "near miss: its first-level cache is full",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "row_sums", weight = 0.6, lost = 0, bound = "memory", sm = 0.06, memory = 0.49, l1 = -1, occupancy = -1, waves = -1, stall_memory = -1 } } } },
      expect = "silent" },
    { name = "near miss: a kernel of little time",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.05, lost = 200000000.0, bound = "latency", sm = 0.1, memory = 0.1, l1 = -1, occupancy = -1, waves = -1, stall_memory = -1 } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, latency = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
