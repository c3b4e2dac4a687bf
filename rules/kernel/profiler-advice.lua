-- Nsight Compute rates its own advice with an estimate of what it wins. The largest of them, weighted by what the kernel takes, is worth
-- a look before any rule of ours; the estimates overlap and are for kernels in isolation, so nothing is claimed.
-- These rules estimate what their own metric would win ("Est. Local Speedup"), not the kernel.
local function local_estimate(rule)
  return matches(rule, "*HighPipe*") or matches(rule, "*CPIStall*") or matches(rule, "*WarpStall*")
end

return {
  id        = "kernel/profiler-advice",
  title     = "Look at the advice that Nsight Compute rates highest",
  status    = "stable",
  since     = "0.2",
  kind      = "info",
  priority  = 12,
  effort    = "code",
  knowledge = { "K-A7" },

  needs      = { "counter.advice", "counter.rows" },
  thresholds = { "min_gain" },

  symptom = "Nsight Compute estimates that {kernel:kernel} could take {speedup:pct} less time ({gain:pct} of the kernel time). Its rule {rule:text} says: {text:text}",
  cause   = "The kernel profiler checks each kernel by itself, with counters that no timeline has.",
  fixes   = {
    { action = "Open the profile, and read the section of this rule together with its source lines", snippet = "ncu-ui profile.ncu-rep", language = "bash", ["for"] = { "nvidia" } },
    { action = "Change one thing, count the kernel again, and check in a timeline that the step got shorter" },
  },
  false_positives = "Estimates of several rules overlap, and do not add up.",
  references = { "ncu/profiling-guide" },

  applies = function(f) return #f.counter.advice > 0, "the kernel profiler gave no advice with an estimate" end,

  detect = function(f, t)
    local rows = {}
    for _, advice in ipairs(filter(f.counter.advice, function(row) return not local_estimate(row.rule) end)) do
      local weight = 0
      for _, row in ipairs(f.counter.rows) do
        if row.kernel == advice.kernel then weight = math.max(weight, row.weight) end
      end
      table.insert(rows, { kernel = advice.kernel, rule = advice.rule, speedup = advice.speedup, text = advice.text, gain = weight * advice.speedup })
    end
    if #rows == 0 then return nil end
    local best = top(rows, "gain", 5)
    if not at_least(best[1].gain, t.min_gain) then return nil end
    local first = best[1]
    return { count = #rows, rows = best, kernel = first.kernel, rule = first.rule, speedup = first.speedup, text = first.text, gain = first.gain }
  end,

  tests = {
    { name = "uncoalesced accesses of the longest kernel",
      edges = { ["counter.advice[1].speedup"] = 0.125 },
      facts = { counter = { rows = { { kernel = "stencil", weight = 0.8 }, { kernel = "sum", weight = 0.2 } },
                            advice = { { kernel = "stencil", rule = "UncoalescedGlobalAccess", speedup = 0.5, text = "Half of the sectors are not needed." },
                                       { kernel = "sum", rule = "Occupancy", speedup = 0.3, text = "Few warps." } } } },
      expect = { kernel = "stencil", rule = "UncoalescedGlobalAccess", speedup = 0.5, gain = 0.4, count = 2 } },
    { name = "near miss: of a kernel that takes little",
      facts = { counter = { rows = { { kernel = "stencil", weight = 0.1 } },
                            advice = { { kernel = "stencil", rule = "UncoalescedGlobalAccess", speedup = 0.5, text = "Half of the sectors are not needed." } } } },
      expect = "silent" },
    { name = "near miss: an estimate of a metric, not of the kernel",
      facts = { counter = { rows = { { kernel = "stencil", weight = 0.9 } },
                            advice = { { kernel = "stencil", rule = "HighPipeUtilization", speedup = 0.99, text = "All pipelines are under-utilized." } } } },
      expect = "silent" },
    { name = "no advice", facts = { counter = { rows = { { kernel = "stencil", weight = 0.1 } }, advice = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = {}, expect = "cannot_tell" },
  },
}
