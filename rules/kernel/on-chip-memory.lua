-- Memory limits the kernel, but not the device's: shared memory or the caches are busy while device memory has time left.
-- Typical of hand-written products that read both operands from shared memory for each multiply-add. Where the first-level cache
-- is full although little data moves, each access of a warp takes many requests: its threads read down a column, or meet in a bank.
local function busiest(row) return math.max(row.memory, row.l1) end

return {
  id        = "kernel/on-chip-memory",
  title     = "Reduce accesses to caches and shared memory: they are the limit",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 47,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-E1" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows" },
  optional   = { "counter.memory.lost" },
  thresholds = { "min_memory", "min_weight", "min_conflicts", "min_atomics", "winnable" },

  symptom = "Kernels that are limited by caches and shared memory take {weight:pct} of the kernel time: {name:kernel} keeps {what:text} busy for {memory:pct} of its peak, and device memory for {dram:pct}.",
  cause   = "{why:text} The path to this memory is full while the arithmetic units wait.",
  fixes   = {
    { reason = "banks", action = "Pad the rows of the shared array by one element, so that a column lies in different banks",
      snippet = "__shared__ float tile[32][33];   // not [32][32]: 32 rows of 128 bytes all begin in the same bank", language = "cpp", ["for"] = { "c++" } },
    { reason = "banks", action = "Where padding takes too much memory, swizzle the column by the row", snippet = "tile[row][column ^ (row & 31)] = value;", language = "cpp", ["for"] = { "c++" } },
    { reason = "requests", action = "Let neighboring threads access neighboring addresses: one request then serves a whole warp",
      snippet = "// threadIdx.x must be the index that is next to itself in memory:\nint row = blockIdx.y * blockDim.y + threadIdx.y;\nint column = blockIdx.x * blockDim.x + threadIdx.x;\nout[row * n + column] = in[row * n + column];",
      language = "cpp", ["for"] = { "c++" } },
    { reason = "requests", action = "Count the requests of each access, to see which one it is",
      snippet = "ncu --section MemoryWorkloadAnalysis_Tables --section SourceCounters --kernel-name 'regex:^{name:function}$' --launch-count 3 -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { reason = "atomics", action = "Count in shared memory, one copy per block, and add each block's result to global memory once",
      snippet = "__shared__ int bins[256];\nfor (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;\n__syncthreads();\nfor (int k = i; k < n; k += stride) atomicAdd(&bins[keys[k]], 1);\n__syncthreads();\nfor (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&out[b], bins[b]);",
      language = "cpp", ["for"] = { "c++" } },
    { reason = "atomics", action = "Add up within a warp first, and let one lane do the atomic", snippet = "const int sum = __reduce_add_sync(0xffffffff, value);    // integers; compute capability 8.0 and later\nif ((threadIdx.x & 31) == 0) atomicAdd(total, sum);", language = "cpp", ["for"] = { "c++" } },
    { reason = "atomics", action = "Use a library's primitive for histograms, reductions and scatters (CUB, Thrust)" },
    { reason = "l2", action = "Read each value from the L2 cache once per block: keep it in shared memory or registers while the block uses it" },
    { reason = "l2", action = "Let each block work on a larger tile, and move 16 bytes per access" },
    { reason = "values", action = "Let each thread compute several results, so that a value that it loads serves several operations (register tiling)",
      snippet = "__shared__ float rows[64][32], columns[32][64];\nfloat acc[4][4] = {};                  // 16 results per thread: 8 loads for 16 multiply-adds, not 2 for 1\nfor (int k = 0; k < 32; ++k)\n  for (int i = 0; i < 4; ++i)\n    for (int j = 0; j < 4; ++j)\n      acc[i][j] += rows[4 * threadIdx.y + i][k] * columns[k][4 * threadIdx.x + j];",
      language = "cpp", ["for"] = { "c++" } },
    { reason = "values", action = "Load 16 bytes at a time (float4), and arrange shared arrays so that the threads of a warp use different banks" },
    { reason = "values", action = "Use a library's kernel for matrix products, convolutions and attention (cuBLAS, CUTLASS, cuDNN)" },
  },
  false_positives = "Look-ups in tables and histograms, whose only work is access to shared memory.",
  references = { "ncu/profiling-guide", "cuda-best-practices/guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.memory_kind == "on-chip" and at_least(busiest(row), t.min_memory)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    local banks = at_least(first.conflicts or -1, t.min_conflicts)
    local requests = not banks and not at_least(first.memory, t.min_memory)
    local l2 = not banks and not requests and first.l2 >= first.memory and first.l1 >= 0 and first.l1 < first.l2
    local atomics = not banks and not requests and at_least(first.atomics or -1, t.min_atomics)
    return { weight = weight, name = first.kernel, memory = busiest(first), dram = first.dram, count = #rows, rows = worst,
             reason = banks and "banks" or requests and "requests" or atomics and "atomics" or l2 and "l2" or "values",
             part = banks and f.counter.memory.lost and share(sum(filter(rows, function(row) return at_least(row.conflicts or -1, t.min_conflicts) end), "lost"), f.counter.memory.lost.time) or 0,
             what = requests and "the first-level cache" or (atomics or l2) and "the L2 cache" or "this memory",
             why = banks and in_words(first.conflicts, "pct") .. " of the passes over shared memory are bank conflicts: threads of a warp ask for different words of one bank, and take turns."
                   or requests and "Little data moves, so each access of a warp takes many requests: its threads access addresses that are far apart, or the same bank of shared memory."
                   or atomics and in_words(first.atomics, "pct") .. " of the sectors that the L2 cache handles are those of atomic operations, which it does one after the other where they meet."
                   or l2 and "The same values are fetched from the L2 cache by many blocks, or by one block again and again."
                   or "Values come from shared memory or a cache again for every operation or two." }
  end,

  -- Only bank conflicts are counted by themselves.
  saving = function(f, t, e)
    if e.part == 0 or f.counter.memory.lost == nil then return nil end
    return { claims = f.counter.memory.lost, part = e.part * t.winnable, confidence = 0.5,
             basis = "without bank conflicts, these kernels come near their next limit" }
  end,

  tests = {
    { name = "a transpose whose columns lie in one bank",
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, rows = { { kernel = "transpose", weight = 1, lost = 2e8, memory_kind = "on-chip", memory = 0.94, l1 = 0.94, dram = 0.31, conflicts = 0.94, l2 = -1, atomics = -1 } } } },
      expect = { reason = "banks", part = 0.5 }, saving = { claims = 4e8, part = 0.45 } },
    { name = "a third of the passes are conflicts",
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, rows = { { kernel = "transpose", weight = 1, lost = 2e8, memory_kind = "on-chip", memory = 0.94, l1 = 0.94, dram = 0.31, conflicts = 0.31, l2 = -1, atomics = -1 } } } },
      expect = { reason = "banks" } },
    { name = "a little fewer are",
      facts = { counter = { kernels = 1, memory = { lost = 4e8 }, rows = { { kernel = "transpose", weight = 1, lost = 2e8, memory_kind = "on-chip", memory = 0.94, l1 = 0.94, dram = 0.31, conflicts = 0.29, l2 = -1, atomics = -1 } } } },
      expect = { reason = "values" } },
    { name = "a product that reads both operands from shared memory for each multiply-add",
      facts = { counter = { kernels = 1, rows = { { kernel = "matmul_tiled(float const*)", weight = 1, memory_kind = "on-chip", memory = 0.83, l1 = -1, dram = 0.19, conflicts = -1, l2 = -1, atomics = -1 } } } },
      expect = { weight = 1, name = "matmul_tiled(float const*)", memory = 0.83, dram = 0.19, count = 1, rows = 1 } },
    { name = "a row sum whose threads read down the columns: the cache is full, and little data moves",
      facts = { counter = { kernels = 1, rows = { { kernel = "row_sums(float const*)", weight = 1, memory_kind = "on-chip", memory = 0.49, l1 = 0.98, dram = 0.05, conflicts = -1, l2 = -1, atomics = -1 } } } },
      expect = { reason = "requests", what = "the first-level cache", memory = 0.98, dram = 0.05, rows = 1 } },
    { name = "a histogram with atomics on global memory",
      facts = { counter = { kernels = 1, rows = { { kernel = "histogram", weight = 1, memory_kind = "on-chip", memory = 0.88, l1 = 0.2, l2 = 0.88, dram = 0.03, conflicts = -1, atomics = 0.9 } } } },
      expect = { reason = "atomics", what = "the L2 cache", memory = 0.88 } },
    { name = "half of the cache's work is that of atomics",
      facts = { counter = { kernels = 1, rows = { { kernel = "histogram", weight = 1, memory_kind = "on-chip", memory = 0.88, l1 = 0.2, l2 = 0.88, dram = 0.03, conflicts = -1, atomics = 0.51 } } } },
      expect = { reason = "atomics" } },
    { name = "a little less of it is",
      facts = { counter = { kernels = 1, rows = { { kernel = "histogram", weight = 1, memory_kind = "on-chip", memory = 0.88, l1 = 0.2, l2 = 0.88, dram = 0.03, conflicts = -1, atomics = 0.49 } } } },
      expect = { reason = "l2" } },
    { name = "the second-level cache is the limit, without atomics",
      facts = { counter = { kernels = 1, rows = { { kernel = "gather", weight = 1, memory_kind = "on-chip", memory = 0.88, l1 = 0.4, l2 = 0.88, dram = 0.1, conflicts = -1, atomics = 0 } } } },
      expect = { reason = "l2", what = "the L2 cache" } },
    { name = "near miss: device memory is as busy",
      facts = { counter = { kernels = 1, rows = { { kernel = "stream", weight = 1, memory_kind = "device", memory = 0.85, l1 = -1, dram = 0.84, conflicts = -1, l2 = -1, atomics = -1 } } } },
      expect = "silent" },
    { name = "near miss: the SMs are the limit",
      facts = { counter = { kernels = 1, rows = { { kernel = "gemm", weight = 1, memory_kind = "", memory = 0.7, l1 = -1, dram = 0.1, conflicts = -1, l2 = -1, atomics = -1 } } } },
      expect = "silent" },
    { name = "just busy enough",
      facts = { counter = { kernels = 1, rows = { { kernel = "matmul_tiled", weight = 1, memory_kind = "on-chip", memory = 0.65, l1 = -1, dram = 0.1, conflicts = -1, l2 = -1, atomics = -1 } } } },
      expect = { memory = 0.65 } },
    { name = "near miss: not busy enough",
      facts = { counter = { kernels = 1, rows = { { kernel = "matmul_tiled", weight = 1, memory_kind = "on-chip", memory = 0.55, l1 = -1, dram = 0.1, conflicts = -1, l2 = -1, atomics = -1 } } } },
      expect = "silent" },
    { name = "a kernel that takes a tenth of the time",
      facts = { counter = { kernels = 1, rows = { { kernel = "matmul_tiled", weight = 0.11, memory_kind = "on-chip", memory = 0.83, l1 = -1, dram = 0.19, conflicts = -1, l2 = -1, atomics = -1 } } } },
      expect = { weight = 0.11 } },
    { name = "near miss: a kernel that takes a little less",
      facts = { counter = { kernels = 1, rows = { { kernel = "matmul_tiled", weight = 0.09, memory_kind = "on-chip", memory = 0.83, l1 = -1, dram = 0.19, conflicts = -1, l2 = -1, atomics = -1 } } } },
      expect = "silent" },
    { name = "no kernels in the output", facts = { counter = { kernels = 0, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
