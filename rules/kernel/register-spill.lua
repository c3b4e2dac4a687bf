-- Hot kernels that use local memory: registers that did not fit, or arrays indexed at run time.
-- Many library kernels reserve a few bytes for nothing, so only kernels with many registers and a good deal of local memory
-- count. What it costs a timeline cannot tell: there is no saving.
return {
  id        = "kernel/register-spill",
  title     = "Keep the values of hot kernels in registers",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  priority  = 45,
  explains  = { "kernel/hot" },
  knowledge = { "K-D9" },
  effort    = "code",

  needs      = { "kernel.spilling.share", "kernel.spilling.rows", "budget.compute", "window.time" },
  thresholds = { "min_share", "min_bytes", "min_registers" },

  symptom = "{share:pct} of the time runs kernels that use local memory; {name:text} uses {bytes:bytes} and {registers:count} registers a thread.",
  cause   = "Local memory holds what does not fit into registers. It lies in device memory behind the caches, so each access costs far more than a register.",
  fixes   = {
    { action = "See what the compiler spills, and where",
      snippet = "nvcc -Xptxas -v,-warn-spills -lineinfo kernel.cu", language = "bash" },
    { action = "Give the compiler room: fewer threads a block in __launch_bounds__, no --maxrregcount, smaller tiles",
      snippet = "__global__ void __launch_bounds__(128) kernel(const float* in, float* out);", language = "cpp" },
    { action = "Index small arrays with constants only: unroll their loops fully, so that they can live in registers",
      snippet = "#pragma unroll\nfor (int i = 0; i < 8; ++i) sum[i] += a[i] * b;", language = "cpp" },
  },
  false_positives = "Local memory that is reserved but hardly touched, for instance on an error path.",
  references = { "cuda-best-practices/occupancy", "ncu/profiling-guide" },

  applies = function(f) return f.kernel.spilling.share > 0, "no kernel uses local memory" end,

  detect = function(f, t)
    local rows = f.kernel.spilling.rows
    local heavy = filter(rows, function(row)
      return at_least(row.local_bytes, t.min_bytes) and at_least(row.registers, t.min_registers)
    end)
    local window_share = f.kernel.spilling.share * share(f.budget.compute, f.window.time)
    local heavy_share = window_share * share(sum(heavy, "time"), sum(rows, "time"))
    if not at_least(heavy_share, t.min_share) then return nil end
    local worst = top(heavy, "time", 5)
    return { share = heavy_share, name = worst[1].name, bytes = worst[1].local_bytes, registers = worst[1].registers, rows = worst }
  end,

  tests = {
    { name = "a kernel with 255 registers and 512 bytes of local memory takes most of the time",
      facts = { window = { time = 1e9 }, budget = { compute = 1e9 },
                kernel = { spilling = { share = 0.8, rows = {
                  { name = "stencil27", local_bytes = 512, registers = 255, count = 100, time = 6e8 },
                  { name = "gather", local_bytes = 8, registers = 40, count = 100, time = 2e8 } } } } },
      expect = { share = 0.6, name = "stencil27", bytes = 512, registers = 255, rows = 1 } },
    { name = "near miss: library kernels with a few bytes of local memory",
      facts = { window = { time = 1e9 }, budget = { compute = 1e9 },
                kernel = { spilling = { share = 0.7, rows = {
                  { name = "reduce_kernel", local_bytes = 16, registers = 32, count = 100, time = 7e8 } } } } },
      expect = "silent" },
    { name = "near miss: heavy spilling in a kernel of little time",
      facts = { window = { time = 1e9 }, budget = { compute = 1e9 },
                kernel = { spilling = { share = 0.05, rows = {
                  { name = "stencil27", local_bytes = 512, registers = 255, count = 100, time = 5e7 } } } } },
      expect = "silent" },
    { name = "no local memory in use",
      facts = { window = { time = 1e9 }, budget = { compute = 1e9 }, kernel = { spilling = { share = 0, rows = {} } } },
      expect = "not_applicable" },
    { name = "the report does not say", facts = { window = { time = 1e9 }, budget = { compute = 1e9 } }, expect = "cannot_tell" },
  },
}
