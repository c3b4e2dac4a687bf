-- Warps wait to hand over accesses to global or local memory, because the queue of these instructions is full. More loads in flight
-- make that worse: fewer and wider accesses help, and for counters in memory, sums that are made before.
return {
  id        = "kernel/stall-queue",
  title     = "Reduce the number of memory accesses: their queue is full",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 52,
  explains  = { "kernel/low-throughput", "kernel/low-ipc" },
  knowledge = { "K-D5" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.latency.lost" },
  thresholds = { "min_stall", "min_weight", "winnable" },

  symptom = "Kernels whose warps wait to issue memory accesses take {weight:pct} of the kernel time: warps of {name:kernel} spend {stall:pct} of their time waiting for a place in the queue.",
  cause   = "The kernel issues more accesses than the load and store unit takes. Each access has few bytes, each thread has its own, or many atomics go to the same addresses.",
  fixes   = {
    { action = "For histograms and sums, count in shared memory or registers first, and add each block's result to global memory once",
      snippet = "__shared__ int bins[256];\nfor (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;\n__syncthreads();\nfor (int k = i; k < n; k += stride) atomicAdd(&bins[keys[k]], 1);\n__syncthreads();\nfor (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&out[b], bins[b]);",
      language = "cpp", ["for"] = { "c++" } },
    { action = "Move 16 bytes per access instead of 1 to 4", snippet = "const float4 v = reinterpret_cast<const float4*>(in)[i];", language = "cpp", ["for"] = { "c++" } },
    { action = "Keep values that are read again in registers or shared memory, and check that nothing is spilled to local memory" },
    { action = "Use a library's primitive for histograms, reductions and scatters (CUB, Thrust)" },
  },
  false_positives = "Scatters to addresses that the data gives, which cannot be joined.",
  references = { "ncu/profiling-guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "latency" and at_least(row.stall_queue or -1, t.min_stall)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    return { weight = weight, count = #rows, name = first.kernel, stall = first.stall_queue, part = share(sum(rows, "lost"), f.counter.latency.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.latency.lost, part = e.part * t.winnable, confidence = 0.4,
             basis = "kernels whose queue of accesses is full use the headroom that counters show" }
  end,

  tests = {
    { name = "a histogram with global atomics", edges = { ["counter.rows[1].stall_queue"] = 0.3, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "histogram", weight = 1, lost = 2e8, bound = "latency", stall_memory = 0.85, stall_queue = 0.47 } } } },
      expect = { name = "histogram", stall = 0.47, part = 0.5 }, saving = { claims = 4e8, part = 0.25 } },
    { name = "near miss: warps wait for data",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "k", weight = 1, lost = 2e8, bound = "latency", stall_memory = 0.85, stall_queue = 0.05 } } } }, expect = "silent" },
    { name = "near miss: memory is at its limit",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "k", weight = 1, lost = 2e8, bound = "memory", stall_memory = 0.85, stall_queue = 0.5 } } } }, expect = "silent" },
    { name = "no kernels in the output", facts = { counter = { kernels = 0, latency = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
