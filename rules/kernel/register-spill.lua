-- Hot kernels that use local memory: registers that did not fit, or arrays indexed at run time.
-- Many library kernels reserve a few bytes for nothing, so only kernels with many registers and a good deal of local memory
-- count. What it costs a timeline cannot tell: there is no saving. Counters can: where they were given, the instructions on local
-- memory decide.
return {
  id        = "kernel/register-spill",
  title     = "Keep the values of hot kernels in registers",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 45,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-D9" },
  effort    = "code",

  needs      = { "counter.kernels" },
  optional   = { "kernel.spilling.share", "kernel.spilling.rows", "budget.compute", "window.time", "counter.rows",
                 "counter.latency.lost", "counter.memory.lost" },
  thresholds = { "min_share", "min_bytes", "min_registers", "min_local", "winnable" },

  symptom = "Kernels that use local memory take {share:pct} of the time. {name:kernel} uses {use:text} and {registers:count} registers per thread.",
  cause   = "Local memory holds what does not fit into registers, and it is in device memory behind the caches, so each access costs far more than a register.",
  fixes   = {
    { action = "Find out what the compiler spills, and where",
      snippet = "nvcc -Xptxas -v,-warn-spills -lineinfo kernel.cu", language = "bash", ["for"] = { "c++", "nvidia" } },
    { action = "Give the compiler room: fewer threads per block in __launch_bounds__, no --maxrregcount, smaller tiles",
      snippet = "__global__ void __launch_bounds__(128) kernel(const float* in, float* out);", language = "cpp", ["for"] = { "c++" } },
    { action = "Index small arrays with constants only: unroll their loops fully, so that they stay in registers",
      snippet = "#pragma unroll\nfor (int i = 0; i < 8; ++i) sum[i] += a[i] * b;", language = "cpp", ["for"] = { "c++" } },
  },
  false_positives = "Local memory that is reserved but hardly used, for example on an error path.",
  references = { "cuda-best-practices/occupancy", "ncu/profiling-guide" },

  applies = function(f)
    local counted = f.counter.rows and #filter(f.counter.rows, function(row) return row["local"] >= 0 end) > 0
    return counted or (f.kernel.spilling.share or 0) > 0, "no recorded kernel uses local memory"
  end,

  detect = function(f, t)
    local counted = filter(f.counter.rows or {}, function(row) return row["local"] >= 0 end)
    if #counted > 0 then
      local spilling = filter(counted, function(row) return at_least(row["local"], t.min_local) end)
      local weight = sum(spilling, "weight")
      if #spilling == 0 or not at_least(weight, t.min_share) then return nil end
      local worst = top(spilling, "weight", 5)
      return { share = weight, name = worst[1].kernel, use = "local memory in a good part of its instructions", part_local = worst[1]["local"],
               registers = worst[1].registers, rows = worst,
               part = share(sum(spilling, "lost"), f.counter.latency.lost.time + f.counter.memory.lost.time) }
    end
    local rows = f.kernel.spilling.rows
    local heavy = filter(rows, function(row)
      return at_least(row.local_bytes, t.min_bytes) and at_least(row.registers, t.min_registers)
    end)
    local window_share = f.kernel.spilling.share * share(f.budget.compute, f.window.time)
    local heavy_share = window_share * share(sum(heavy, "time"), sum(rows, "time"))
    if not at_least(heavy_share, t.min_share) then return nil end
    local worst = top(heavy, "time", 5)
    return { share = heavy_share, name = worst[1].name, use = tostring(worst[1].local_bytes) .. " bytes of local memory", bytes = worst[1].local_bytes,
             registers = worst[1].registers, part = 0, rows = worst }
  end,

  -- A timeline does not say what local memory costs; counters say how far the kernel is from its limit.
  saving = function(f, t, e)
    if e.part == 0 then return nil end
    return { claims = { f.counter.latency.lost, f.counter.memory.lost }, part = e.part * t.winnable, confidence = 0.3,
             basis = "kernels that spill use part of the headroom that counters show" }
  end,

  tests = {
    { name = "a kernel with 255 registers and 512 bytes of local memory takes most of the time",
      edges = { ["budget.compute"] = 3.33e8, ["kernel.spilling.rows[1].local_bytes"] = 64, ["kernel.spilling.rows[1].registers"] = 64 },
      facts = { counter = { kernels = 0 }, window = { time = 1e9 }, budget = { compute = 1e9 },
                kernel = { spilling = { share = 0.8, rows = {
                  { name = "stencil27", local_bytes = 512, registers = 255, count = 100, time = 6e8 },
                  { name = "gather", local_bytes = 8, registers = 40, count = 100, time = 2e8 } } } } },
      expect = { share = 0.6, name = "stencil27", bytes = 512, registers = 255, rows = 1 } },
    { name = "near miss: library kernels with a few bytes of local memory",
      facts = { counter = { kernels = 0 }, window = { time = 1e9 }, budget = { compute = 1e9 },
                kernel = { spilling = { share = 0.7, rows = {
                  { name = "reduce_kernel", local_bytes = 16, registers = 32, count = 100, time = 7e8 } } } } },
      expect = "silent" },
    { name = "near miss: heavy spilling in a kernel of little time",
      facts = { counter = { kernels = 0 }, window = { time = 1e9 }, budget = { compute = 1e9 },
                kernel = { spilling = { share = 0.05, rows = {
                  { name = "stencil27", local_bytes = 512, registers = 255, count = 100, time = 5e7 } } } } },
      expect = "silent" },
    { name = "no local memory in use",
      facts = { counter = { kernels = 0 }, window = { time = 1e9 }, budget = { compute = 1e9 }, kernel = { spilling = { share = 0, rows = {} } } },
      expect = "not_applicable" },
    { name = "counted: a tenth of the instructions are on local memory",
      edges = { ["counter.rows[1].local"] = 0.03 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, memory = { lost = 0 }, rows = {
        { kernel = "stencil27", weight = 0.6, lost = 2e8, ["local"] = 0.1, registers = 255 } } } },
      expect = { share = 0.6, name = "stencil27", part_local = 0.1, part = 0.5 }, saving = { claims = 4e8, part = 0.2 } },
    { name = "near miss: counted, and hardly any of it is executed",
      facts = { window = { time = 1e9 }, budget = { compute = 1e9 },
                kernel = { spilling = { share = 0.8, rows = { { name = "stencil27", local_bytes = 512, registers = 255, count = 1, time = 8e8 } } } },
                counter = { kernels = 1, latency = { lost = 4e8 }, memory = { lost = 0 }, rows = {
        { kernel = "stencil27", weight = 0.6, lost = 2e8, ["local"] = 0.001, registers = 255 } } } },
      expect = "silent" },
    { name = "nothing says", facts = { counter = { kernels = 0 } }, expect = "not_applicable" },
  },
}
