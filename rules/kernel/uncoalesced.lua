-- Threads of a warp touch scattered addresses: most of each sector that is fetched was not asked for. Where memory and its caches are
-- hardly busy, fewer bytes win nothing: the kernel waits for single loads, such as those of a list.

-- Fewer bytes at the rate of now are won for certain where memory limits; of the rest of the headroom, some.
local function won_of(rows, t)
  local won = 0
  for _, row in ipairs(rows) do
    local certain = row.headroom > 0 and row.scattered / row.headroom or 0
    won = won + row.lost * math.max(t.winnable, certain)
  end
  return won
end

return {
  id        = "kernel/uncoalesced",
  title     = "Let neighboring threads access neighboring addresses",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 56,
  explains  = { "kernel/stall-memory", "kernel/low-throughput" },
  knowledge = { "K-D2" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.memory.lost", "counter.latency.lost" },
  thresholds = { "max_useful", "min_busy", "min_weight", "winnable" },

  symptom = "Kernels with scattered memory accesses take {weight:pct} of the kernel time: {name:kernel} uses only {useful:pct} of the bytes it moves.",
  cause   = "The threads of a warp access addresses that are not adjacent, so each of them moves a whole sector of 32 bytes.",
  fixes   = {
    { action = "Let thread i work on element i; where that is a column, transpose through shared memory",
      snippet = "__shared__ float tile[32][33];\ntile[threadIdx.y][threadIdx.x] = in[y * n + x];\n__syncthreads();\nout[x0 * n + y0] = tile[threadIdx.x][threadIdx.y];", language = "cpp", ["for"] = { "c++" } },
    { action = "Use a structure of arrays instead of an array of structures" },
    { action = "In PyTorch, make the tensor contiguous once instead of reading it with strides again and again", snippet = "x = x.transpose(1, 2).contiguous()", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Gathers by an index, whose order is given by the data.",
  references = { "cuda-best-practices/coalescing" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.useful >= 0 and at_most(row.useful, t.max_useful) and row.bound ~= "compute" and row.bound ~= "launch"
        and (row.bound ~= "latency" or at_least(math.max(row.memory or 1, row.l1 or -1), t.min_busy))
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    return { weight = weight, count = #rows, name = first.kernel, useful = first.useful, sectors = first.sectors, part = won_of(rows, t) / math.max(1, f.counter.memory.lost.time + f.counter.latency.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = { f.counter.memory.lost, f.counter.latency.lost }, part = e.part, confidence = 0.5,
             basis = "kernels that waste most of the bytes they move use the headroom that counters show" }
  end,

  tests = {
    { name = "a quarter of each sector is used",
      edges = { ["counter.rows[1].useful"] = 0.5, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", headroom = 0.5, scattered = 0, useful = 0.25, sectors = 16 } } } },
      expect = { weight = 0.6, name = "stencil", useful = 0.25, part = 0.175 },
      saving = { claims = 4e8, part = 0.175 } },
    { name = "a copy that moves four times what it uses: the rate of now is certain",
      facts = { counter = { kernels = 1, memory = { lost = 2e8 }, latency = { lost = 0 }, rows = { { kernel = "copy", weight = 1, lost = 200000000.0, bound = "memory", useful = 0.25, sectors = 16, headroom = 0.8, scattered = 0.75 } } } },
      expect = { part = 0.9375 } },
    { name = "sectors and requests alone were counted: what limits the kernel is unknown",
      facts = { counter = { kernels = 1, memory = { lost = 0 }, latency = { lost = 0 }, rows = { { kernel = "matrix_add_2D", weight = 1, lost = 0, bound = "", headroom = 0.5, scattered = 0, useful = 0.5, sectors = 32 } } } },
      expect = { weight = 1, name = "matrix_add_2D", useful = 0.5, part = 0 } },
    { name = "near miss: a list that is followed, while memory is hardly busy",
      facts = { counter = { kernels = 1, memory = { lost = 0 }, latency = { lost = 4e8 }, rows = { { kernel = "list_rank", weight = 0.6, lost = 200000000.0, bound = "latency", headroom = 0.5, scattered = 0, useful = 0.25, sectors = 32, memory = 0.18, l1 = 0.1 } } } },
      expect = "silent" },
    { name = "scattered accesses that keep a cache busy", edges = { ["counter.rows[1].memory"] = 0.3 },
      facts = { counter = { kernels = 1, memory = { lost = 0 }, latency = { lost = 4e8 }, rows = { { kernel = "gather", weight = 0.6, lost = 200000000.0, bound = "latency", headroom = 0.5, scattered = 0, useful = 0.25, sectors = 32, memory = 0.5, l1 = 0.2 } } } },
      expect = { useful = 0.25 } },
    { name = "near miss: all of it is used",
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", headroom = 0.5, scattered = 0, useful = 1.0, sectors = 4 } } } },
      expect = "silent" },
    { name = "near miss: waste, in a kernel that the SMs limit",
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "compute", useful = 0.25, sectors = 16 } } } },
      expect = "silent" },
    { name = "near miss: accesses were not counted",
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", headroom = 0.5, scattered = 0, useful = -1, sectors = -1 } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, memory = { lost = 4e8 }, latency = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
