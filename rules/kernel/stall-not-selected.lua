-- Warps are ready and others are chosen: the schedulers have more than enough. It is no problem; fewer, fatter warps may even be better.
return {
  id        = "kernel/stall-not-selected",
  title     = "Leave occupancy as it is: enough warps are ready",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  priority  = 10,
  knowledge = { "K-D7" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows" },
  thresholds = { "min_stall", "min_weight" },

  symptom = "Warps of {name:kernel} are ready but not selected {stall:pct} of their time: there are more of them than the schedulers need.",
  cause   = "Each scheduler issues one instruction per cycle, and the other ready warps wait for their turn. Latency is already hidden, so more warps would not help.",
  fixes   = {
    { action = "Leave it: the issue slots are in use" },
    { action = "If registers or shared memory are short, use fewer threads with more work each" },
  },
  false_positives = "Kernels whose issue slots are all in use have nothing to gain.",
  references = { "ncu/profiling-guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.stall_not_selected >= 0 and at_least(row.stall_not_selected, t.min_stall)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    return { weight = weight, count = #rows, name = first.kernel, stall = first.stall_not_selected, rows = worst }
  end,

  tests = {
    { name = "half of the time ready and not chosen",
      edges = { ["counter.rows[1].stall_not_selected"] = 0.4, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", stall_not_selected = 0.5 } } } },
      expect = { weight = 0.6, name = "stencil", stall = 0.5, rows = 1 } },
    { name = "near miss: some is normal",
      facts = { counter = { kernels = 1, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", stall_not_selected = 0.15 } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
