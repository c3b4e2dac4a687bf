-- Few warps on the SMs, and nothing hides the latency of what they wait for. Low occupancy alone is no fault: tuned kernels often need
-- little of it. So the kernel must also be near no limit of the GPU and leave its issue slots empty.
return {
  id        = "kernel/low-occupancy",
  title     = "Put more warps on each SM",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 53,
  explains  = { "kernel/low-throughput", "kernel/low-ipc" },
  knowledge = { "K-D3", "K-D9", "K-F5" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.latency.lost" },
  thresholds = { "max_occupancy", "max_issue", "min_weight", "winnable" },

  symptom = "Kernels with few warps per SM, which wait, take {weight:pct} of the kernel time: {name:kernel} keeps {occupancy:pct} of the warps that an SM can hold and uses {issue:pct} of the issue slots. Limited by: {limiter:text}.",
  cause   = "A scheduler hides the latency of memory and of long instructions by switching to another warp. With few warps, there is none to switch to.",
  fixes   = {
    { reason = "registers", action = "Bound the registers, or use smaller tiles; then check that nothing spills",
      snippet = "__global__ void __launch_bounds__(256, 4) kernel(...)    // at least 4 blocks per SM", language = "cpp", ["for"] = { "c++" } },
    { reason = "shared", action = "Use less shared memory per block: smaller tiles, fewer stages, or 16-bit data" },
    { reason = "shared", action = "Give each block more threads, so that the same shared memory serves more warps" },
    { reason = "blocks", action = "Choose 128 to 256 threads per block, and enough blocks for several waves",
      snippet = "cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0);", language = "cpp", ["for"] = { "c++" } },
    { action = "Let each warp do more at once: unroll, or load several elements per thread (instruction-level parallelism)" },
  },
  false_positives = "Kernels with much parallelism inside a warp reach their best rate with few warps. Their issue slots are not empty then.",
  references = { "cuda-best-practices/occupancy", "ncu/profiling-guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "latency" and row.occupancy >= 0 and at_most(row.occupancy, t.max_occupancy)
        and row.issue >= 0 and at_most(row.issue, t.max_issue)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    local few = first.theoretical > first.occupancy * 2 or first.limiter == ""
    local reason = few and "blocks" or first.limiter == "registers" and "registers" or first.limiter == "shared memory" and "shared" or "blocks"
    return { reason = reason, weight = weight, count = #rows, name = first.kernel, occupancy = first.occupancy, issue = first.issue,
             limiter = few and "too few blocks, or blocks of uneven length" or first.limiter, part = share(sum(rows, "lost"), f.counter.latency.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.latency.lost, part = e.part * t.winnable, confidence = 0.4,
             basis = "latency-bound kernels with few warps use the headroom that counters show" }
  end,

  tests = {
    { name = "registers leave room for an eighth of the warps",
      edges = { ["counter.rows[1].issue"] = 0.4, ["counter.rows[1].occupancy"] = 0.25, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", occupancy = 0.12, theoretical = 0.125, issue = 0.1, limiter = "registers" } } } },
      expect = { weight = 0.6, name = "stencil", limiter = "registers", reason = "registers", part = 0.5, rows = 1 },
      saving = { claims = 4e8, part = 0.25 } },
    { name = "shared memory leaves room for one small block",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", occupancy = 0.031, theoretical = 0.031, issue = 0.1, limiter = "shared memory" } } } },
      expect = { reason = "shared" } },
    { name = "room for all warps, and too few blocks to fill it",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", occupancy = 0.1, theoretical = 1.0, issue = 0.05, limiter = "registers" } } } },
      expect = { limiter = "too few blocks, or blocks of uneven length" } },
    { name = "near miss: few warps, but the kernel computes at its limit",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "compute", occupancy = 0.12, theoretical = 0.125, issue = 0.9, limiter = "registers" } } } },
      expect = "silent" },
    { name = "near miss: few warps that keep the schedulers busy",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", occupancy = 0.2, theoretical = 0.25, issue = 0.7, limiter = "registers" } } } },
      expect = "silent" },
    { name = "near miss: a kernel of little time",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.02, lost = 200000000.0, bound = "latency", occupancy = 0.1, theoretical = 0.125, issue = 0.05, limiter = "registers" } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, latency = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
