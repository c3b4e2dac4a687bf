-- A summary says which kernels take long, but not when they ran: the next step is a timeline.
-- Whether it is an operator of PyTorch: its profiler made the summary.
local function of_pytorch(row) return contains(row.name, "aten::") end

return {
  id        = "profile/kernels",
  title     = "Start with the kernels that take most of the time",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  priority  = 5,
  knowledge = { "K-A7" },
  effort    = "flag",
  observed  = "measured",

  needs      = { "totals.kernels.count", "totals.kernels.time", "totals.kernels.rows" },
  optional   = { "window.device_time" },
  thresholds = { "min_share" },

  symptom = "According to the summary, {name:kernel} takes {share:pct} of the kernel time ({count:count} launches). Kernels with {least:pct} or more each: {many:count}.",
  cause   = "A summary adds up what ran and does not show idle time, so a kernel that takes most of the kernel time may take little of the run.",
  fixes   = {
    { reason = "pytorch", action = "Export the trace of the profile, to see what runs and what the GPU waits for",
      snippet = "# after the loop: prof.export_chrome_trace(\"run.pt.trace.json.gz\")\nadvise run.pt.trace.json.gz", language = "bash", ["for"] = { "pytorch" } },
    { action = "Capture a timeline of a few steps, to see what runs and what the GPU waits for",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --gpu-metrics-devices=all -o run -- COMMAND\nadvise run.nsys-rep", language = "bash", ["for"] = { "nvidia" } },
    { action = "Capture a timeline of a few steps, to see what runs and what the GPU waits for",
      snippet = "rocprofv3 --runtime-trace --output-format json -o run -- COMMAND\nadvise run_results.json", language = "bash", ["for"] = { "amd" } },
    { action = "Measure the first kernel by itself",
      snippet = "ncu --set full --launch-count 3 -o kernel -- COMMAND\nadvise kernel.ncu-rep", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "A summary of a run that mostly starts up: its kernels are not those of the loop.",
  references = { "nsys/user-guide" },

  applies = function(f)
    if f.window.device_time ~= nil then return false, "the timeline tells more" end
    return f.totals.kernels.count > 0, "no summary of kernels was given"
  end,

  detect = function(f, t)
    local rows = filter(f.totals.kernels.rows, function(row) return at_least(row.share, t.min_share) end)
    if #rows == 0 then return nil end
    return { name = rows[1].name, share = rows[1].share, count = rows[1].count, many = #rows, least = t.min_share, rows = rows,
             reason = #filter(f.totals.kernels.rows, of_pytorch) > 0 and "pytorch" or "other" }
  end,

  tests = {
    { name = "two kernels above a tenth",
      facts = { totals = { kernels = { count = 300, time = 1e9, rows = { { name = "gemm", share = 0.6, count = 100 },
                                                                         { name = "copy", share = 0.3, count = 100 },
                                                                         { name = "fill", share = 0.01, count = 100 } } } } },
      expect = { name = "gemm", share = 0.6, many = 2, rows = 2, reason = "other" } },
    { name = "operators that PyTorch's profiler summed up",
      facts = { totals = { kernels = { count = 300, time = 1e9, rows = { { name = "aten::addmm", share = 0.6, count = 100 } } } } },
      expect = { name = "aten::addmm", reason = "pytorch" } },
    { name = "near miss: each kernel takes a sliver",
      edges = { ["totals.kernels.rows[1].share"] = 0.1 },
      facts = { totals = { kernels = { count = 300, time = 1e9, rows = { { name = "gemm", share = 0.05, count = 100 } } } } }, expect = "silent" },
    { name = "beside a timeline", facts = { window = { device_time = 1e9 }, totals = { kernels = { count = 300, time = 1e9, rows = {} } } }, expect = "not_applicable" },
    { name = "no summary", facts = { totals = { kernels = { count = 0, time = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
