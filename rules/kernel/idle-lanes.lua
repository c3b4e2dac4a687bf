-- Each instruction of a warp works for 32 threads; here most of them are masked out or do not exist.
-- Which part of the lanes of its warps a block fills; 1 where its size is not known.
local function filled(row)
  local threads = row.threads or -1
  if threads <= 0 then return 1 end
  return share(threads, 32 * math.ceil(threads / 32))
end

return {
  id        = "kernel/idle-lanes",
  title     = "Use all threads of each warp",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 57,
  explains  = { "kernel/low-throughput", "kernel/low-occupancy" },
  knowledge = { "K-F3", "K-H2" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.latency.lost" },
  thresholds = { "max_lanes", "max_block", "many_blocks", "min_weight", "winnable" },

  symptom = "Kernels that use few threads of each warp take {weight:pct} of the kernel time: only {lanes:pct} of the threads per warp do work in {name:kernel}.",
  cause   = "{why:text} An instruction costs the same for 1 thread as for 32.",
  fixes   = {
    { reason = "block", action = "Launch blocks of 128 to 256 threads, a multiple of 32", snippet = "kernel<<<(n + 255) / 256, 256>>>(...);    // not <<<n, 1>>>", language = "cpp", ["for"] = { "c++" } },
    { reason = "!block", action = "Let the threads of a warp take the same branch: sort or group the work by case" },
    { action = "Give idle threads a share of the work: one warp per row instead of one thread per row" },
  },
  false_positives = "Work that is serial by nature and small compared with the rest.",
  references = { "cuda-best-practices/occupancy", "ncu/profiling-guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      local by_block = at_most(filled(row), t.max_block) and at_most(row.lanes, t.max_block)
      return row.lanes >= 0 and (at_most(row.lanes, t.max_lanes) or by_block) and (row.bound == "latency" or row.bound == "memory" or row.bound == "compute")
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    local threads = first.threads or -1
    local block = at_most(filled(first), t.max_block)
    local many = first.sms > 0 and at_least(first.blocks / first.sms, t.many_blocks)
    return { reason = block and "block" or threads > 0 and "branches" or "unknown",
             why = block and "Blocks of " .. in_words(threads, "count") .. (threads == 1 and " thread" or " threads") .. " leave lanes of their warps empty." .. (many and " Each SM starts more than " .. in_words(t.many_blocks, "count") .. " of them, and each start costs time." or "") .. (share(threads, 32) == filled(first) and " Full warps also read memory in larger pieces, which the saving does not count." or "")
                   or threads > 0 and "Blocks fill their warps, so neighboring threads take different branches, or loop for different lengths."
                   or "Blocks have fewer than 32 threads, or neighboring threads take different branches.",
             weight = weight, count = #rows, name = first.kernel, lanes = first.lanes, part = share(sum(rows, "lost"), f.counter.latency.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.latency.lost, part = e.part * t.winnable, confidence = 0.5,
             basis = "latency-bound kernels that leave lanes empty use the headroom that counters show" }
  end,

  tests = {
    { name = "blocks of one thread",
      edges = { ["counter.rows[1].lanes"] = 0.5, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", lanes = 0.03125, threads = -1, blocks = -1, sms = -1 } } } },
      expect = { weight = 0.6, name = "stencil", lanes = 0.03125, part = 0.5 },
      saving = { claims = 4e8, part = 0.35 } },
    { name = "millions of blocks of one thread", edges = { ["counter.rows[1].blocks"] = 34000 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "histogram", weight = 1, lost = 4e8, bound = "latency", lanes = 0.03125, threads = 1, blocks = 16318464, sms = 34 } } } },
      expect = { reason = "block", why = "Blocks of 1 thread leave lanes of their warps empty. Each SM starts more than 1,000 of them, and each start costs time. Full warps also read memory in larger pieces, which the saving does not count." } },
    { name = "blocks of 33 threads fill half of two warps", edges = { ["counter.rows[1].lanes"] = 0.8 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "per_row", weight = 1, lost = 4e8, bound = "latency", lanes = 0.516, threads = 33, blocks = -1, sms = -1 } } } },
      expect = { reason = "block", why = "Blocks of 33 threads leave lanes of their warps empty." } },
    { name = "full blocks whose threads part",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "bvh", weight = 1, lost = 4e8, bound = "latency", lanes = 0.19, threads = 256, blocks = -1, sms = -1 } } } },
      expect = { reason = "branches" } },
    { name = "near miss: blocks of 96 threads",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "k", weight = 1, lost = 4e8, bound = "latency", lanes = 0.7, threads = 96, blocks = -1, sms = -1 } } } },
      expect = "silent" },
    { name = "near miss: all lanes at work",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", lanes = 0.99, threads = -1, blocks = -1, sms = -1 } } } },
      expect = "silent" },
    { name = "near miss: a quarter masked out",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", lanes = 0.75, threads = -1, blocks = -1, sms = -1 } } } },
      expect = "silent" },
    { name = "near miss: not counted",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", lanes = -1, threads = -1, blocks = -1, sms = -1 } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, latency = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
