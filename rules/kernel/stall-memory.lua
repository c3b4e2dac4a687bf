-- Warps spend most of their time waiting for global or local memory, while memory itself is not at its limit: it is latency, not
-- bandwidth. Where memory is at its limit, kernel/memory-bound speaks; where warps wait to hand accesses over, more of them would only
-- make the queue longer: kernel/stall-queue speaks.
-- A warp that never waits there is done sooner by that share of its time, and so is a kernel that latency limits: no more than that
-- of its headroom is won.
local function winnable(rows)
  local won = 0
  for _, row in ipairs(rows) do won = won + math.min(row.lost, row.stall_memory * row.time) end
  return won
end

return {
  id        = "kernel/stall-memory",
  title     = "Keep more memory loads in flight to hide latency",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 51,
  explains  = { "kernel/low-throughput", "kernel/low-ipc" },
  knowledge = { "K-D5", "K-F3" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.latency.lost" },
  thresholds = { "min_stall", "min_weight", "winnable" },

  symptom = "Kernels that wait for memory, although it is not busy, take {weight:pct} of the kernel time: warps of {name:kernel} spend {stall:pct} of their time waiting for it.",
  cause   = "Each warp issues one load and waits, so too few loads are in flight to keep memory busy.",
  fixes   = {
    { action = "Keep more loads in flight: unroll, load several elements per thread, use 16-byte accesses",
      snippet = "const float4 v = reinterpret_cast<const float4*>(in)[i];", language = "cpp", ["for"] = { "c++" } },
    { action = "Load the next tile into shared memory while you compute on the current one", snippet = "__pipeline_memcpy_async(&tile[k], &in[i], 16);\n__pipeline_commit();", language = "cpp", ["for"] = { "c++" } },
    { action = "Fuse kernels, so that values stay in registers between them", snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
    { action = "Compile the whole step, so that XLA fuses kernels and values stay in registers between them",
      snippet = "train_step = jax.jit(train_step)", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Pointer chasing, where each address depends on the load before.",
  references = { "cuda-best-practices/coalescing", "ncu/profiling-guide" },

  applies = function(f) return #f.counter.rows > 0, "no kernel counters were given" end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "latency" and row.stall_memory >= 0 and at_least(row.stall_memory, t.min_stall)
        and 2 * (row.stall_queue or -1) < row.stall_memory
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    return { weight = weight, count = #rows, name = first.kernel, stall = first.stall_memory, part = share(winnable(rows), f.counter.latency.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.latency.lost, part = e.part * t.winnable, confidence = 0.4,
             basis = "kernels that wait for memory use the headroom that counters show" }
  end,

  tests = {
    { name = "three quarters of a warp's time waits for memory",
      edges = { ["counter.rows[1].stall_memory"] = 0.5, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, time = 8e8, lost = 200000000.0, bound = "latency", stall_memory = 0.75, stall_queue = -1 } } } },
      expect = { weight = 0.6, name = "stencil", stall = 0.75, part = 0.5 },
      saving = { claims = 4e8, part = 0.25 } },
    { name = "near miss: the queue is full",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", stall_memory = 0.85, stall_queue = 0.47 } } } },
      expect = "silent" },
    { name = "near miss: memory is at its limit: no latency to cover",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "memory", stall_memory = 0.9, stall_queue = -1 } } } },
      expect = "silent" },
    { name = "near miss: a third of the time",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", stall_memory = 0.33, stall_queue = -1 } } } },
      expect = "silent" },
    { name = "near miss: stalls were not counted",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "stencil", weight = 0.6, lost = 200000000.0, bound = "latency", stall_memory = -1, stall_queue = -1 } } } },
      expect = "silent" },
    { name = "no kernels in the output",
      facts = { counter = { kernels = 0, latency = { lost = 4e8 }, rows = {} } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
