-- Few instructions a cycle although warps are resident: the execution units are idle. Memory-bound kernels need few instructions, so
-- only kernels that are near no limit count.
return {
  id        = "kernel/low-ipc",
  title     = "Keep the execution units busy",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  priority  = 26,
  knowledge = { "K-D8" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.latency.lost" },
  thresholds = { "max_ipc", "min_weight", "winnable" },

  symptom = "Kernels that execute few instructions take {weight:pct} of the kernel time: {name:kernel} executes only {ipc:num} instructions per cycle on each SM.",
  cause   = "Warps wait for memory, for barriers, or for results of their own instructions.",
  fixes   = {
    { action = "Find out which stalls dominate in this kernel", snippet = "ncu --section WarpStateStats --section SchedulerStats --csv --page raw --print-units base -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Let each thread compute several independent results, so that instructions do not wait for each other" },
  },
  false_positives = "Kernels of tensor instructions, which do much with few instructions.",
  references = { "ncu/profiling-guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "latency" and row.ipc >= 0 and at_most(row.ipc, t.max_ipc) and row.tensor <= 0
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    return { weight = weight, count = #rows, name = first.kernel, ipc = first.ipc, part = share(sum(rows, "lost"), f.counter.latency.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.latency.lost, part = e.part * t.winnable, confidence = 0.25,
             basis = "kernels that execute few instructions use the headroom that counters show" }
  end,

  tests = {
    { name = "an instruction every four cycles",
      edges = { ["counter.rows[1].ipc"] = 0.5, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", ipc = 0.25, tensor = 0 } } } },
      expect = { weight = 0.6, name = "stencil", ipc = 0.25, part = 0.5 },
      saving = { claims = 4e8, part = 0.15 } },
    { name = "near miss: one and a half a cycle",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", ipc = 1.5, tensor = 0 } } } },
      expect = "silent" },
    { name = "near miss: few instructions, of the tensor cores",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", ipc = 0.3, tensor = 0.4 } } } },
      expect = "silent" },
    { name = "near miss: memory is the limit",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", ipc = 0.2, tensor = 0 } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, latency = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
