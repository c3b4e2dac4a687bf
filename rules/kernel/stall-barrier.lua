-- Warps wait for the others of their block at barriers, or for their own writes at memory fences.
-- A warp that never waits there is done sooner by that share of its time, and so is a kernel that latency limits: no more than that
-- of its headroom is won.
local function stalled(row) return math.max(row.stall_barrier, row.stall_fence) end

local function winnable(rows)
  local won = 0
  for _, row in ipairs(rows) do won = won + math.min(row.lost, stalled(row) * row.time) end
  return won
end

return {
  id        = "kernel/stall-barrier",
  title     = "Reduce waiting at barriers and memory fences",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 54,
  explains  = { "kernel/low-throughput", "kernel/low-ipc" },
  knowledge = { "K-D6" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.latency.lost" },
  thresholds = { "min_stall", "min_weight", "winnable" },

  symptom = "Kernels whose warps wait at {place:text} take {weight:pct} of the kernel time: warps of {name:kernel} spend {stall:pct} of their time there.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "fence", action = "Fence once per block or tile, not per element, and only where another block reads the data",
      snippet = "__syncthreads();\nif (threadIdx.x == 0) __threadfence();    // then signal, once for the block", language = "cpp", ["for"] = { "c++" } },
    { reason = "fence", action = "Use the narrowest fence: for the block, or release and acquire of one variable",
      snippet = "__threadfence_block();    // where only this block reads the data", language = "cpp", ["for"] = { "c++" } },
    { reason = "fence", action = "End the kernel instead of synchronizing the grid in it: the next launch sees all writes" },
    { reason = "barrier", action = "Synchronize warps instead of blocks if data stays inside one warp", snippet = "__syncwarp();    // instead of __syncthreads()", language = "cpp", ["for"] = { "c++" } },
    { reason = "barrier", action = "Do more between two barriers: larger tiles, or two alternating buffers in shared memory" },
    { reason = "barrier", action = "Use smaller blocks: fewer warps wait for each other, and another block runs meanwhile", snippet = "kernel<<<grid * 2, 128>>>(...);", language = "cpp", ["for"] = { "c++" } },
  },
  false_positives = "Barriers that belong to a pipeline between producer and consumer warps.",
  references = { "ncu/profiling-guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "latency" and stalled(row) >= 0 and at_least(stalled(row), t.min_stall)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    local fence = first.stall_fence > first.stall_barrier
    return { reason = fence and "fence" or "barrier", place = fence and "memory fences" or "barriers",
             why = fence and "A fence holds the warp until all of its earlier writes have reached the memory that others read: the L2 cache, for the whole GPU."
                   or "Work is uneven among the warps of a block, or the block synchronizes after every small piece of work.",
             weight = weight, count = #rows, name = first.kernel, stall = stalled(first), part = share(winnable(rows), f.counter.latency.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.latency.lost, part = e.part * t.winnable, confidence = 0.4,
             basis = "kernels that wait there use the headroom that counters show" }
  end,

  tests = {
    { name = "a third of a warp's time at barriers",
      edges = { ["counter.rows[1].stall_barrier"] = 0.2, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, time = 8e8, lost = 200000000.0, bound = "latency", stall_barrier = 0.35, stall_fence = -1 } } } },
      expect = { reason = "barrier", weight = 0.6, name = "stencil", stall = 0.35, part = 0.5 },
      saving = { claims = 4e8, part = 0.2 } },
    { name = "a fifth of a warp's time wins a fifth of the kernel's time at most",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 },
                            rows = { { kernel = "gemm", weight = 0.6, time = 4e8, lost = 2e8, bound = "latency", stall_barrier = 0.25, stall_fence = -1 } } } },
      expect = { stall = 0.25, part = 0.25 },
      saving = { claims = 4e8, part = 0.1 } },
    { name = "a fence per element: no barrier is waited at", edges = { ["counter.rows[1].stall_fence"] = 0.2 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 },
                            rows = { { kernel = "grid_sync", weight = 1, time = 8e8, lost = 4e8, bound = "latency", stall_barrier = 0, stall_fence = 0.88 } } } },
      expect = { reason = "fence", place = "memory fences", stall = 0.88, part = 1 } },
    { name = "near miss: some waiting is normal",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", stall_barrier = 0.08, stall_fence = -1 } } } },
      expect = "silent" },
    { name = "near miss: the SMs are at their limit all the same",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "compute", stall_barrier = 0.3, stall_fence = -1 } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, latency = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
