-- Kernels that are shorter than the call that launches them: the host cannot keep the GPU busy, however the run is timed.
return {
  id        = "profile/short-kernels",
  title     = "Launch fewer and longer kernels",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  knowledge = { "K-B3", "K-H11" },
  effort    = "code",
  observed  = "measured",

  needs      = { "totals.kernels.count", "totals.kernels.time", "totals.launches", "totals.launch_median" },
  thresholds = { "max_ratio", "min_count" },

  symptom = "According to the summary, {count:count} kernels run for {mean:time} on average, and one launch takes the host {launch:time}.",
  cause   = "Where a launch takes the host longer than the kernel takes the GPU, the GPU is idle between kernels.",
  fixes   = {
    { action = "Compile the model, so that element-wise kernels fuse and launches become cheaper",
      snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
    { action = "Capture the repeating part in a CUDA graph and launch it as one" },
    { action = "Give each launch more work: a larger batch, or several small problems in one kernel" },
    { action = "Capture a timeline, to see whether the GPU is idle between the kernels",
      snippet = "nsys profile --trace=cuda,nvtx,osrt -o run -- COMMAND\nadvise run.nsys-rep", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Several threads that launch at the same time, or launches that were measured under a profiler that slows them.",
  references = { "nsys/user-guide" },

  applies = function(f)
    if f.totals.kernels.count == 0 then return false, "no summary of kernels was given" end
    return f.totals.launches > 0, "the summary has no calls that launch kernels"
  end,

  detect = function(f, t)
    local kernels = f.totals.kernels
    if not at_least(kernels.count, t.min_count) then return nil end
    local mean = kernels.time / kernels.count
    local ratio = share(mean, f.totals.launch_median)
    if not at_most(ratio, t.max_ratio) then return nil end
    return { count = kernels.count, mean = mean, launch = f.totals.launch_median, ratio = ratio }
  end,

  tests = {
    { name = "kernels of 3 µs, launches of 6 µs",
      edges = { ["totals.kernels.time"] = 6e7 },
      facts = { totals = { kernels = { count = 10000, time = 3e7 }, launches = 10000, launch_median = 6000 } },
      expect = { mean = 3000, launch = 6000, ratio = 0.5 } },
    { name = "near miss: kernels of 60 µs",
      facts = { totals = { kernels = { count = 10000, time = 6e8 }, launches = 10000, launch_median = 6000 } }, expect = "silent" },
    { name = "near miss: a few kernels",
      edges = { ["totals.kernels.count"] = 1000 },
      facts = { totals = { kernels = { count = 20, time = 6e4 }, launches = 20, launch_median = 6000 } }, expect = "silent" },
    { name = "no calls", facts = { totals = { kernels = { count = 10000, time = 6e8 }, launches = 0 } }, expect = "not_applicable" },
    { name = "no medians", facts = { totals = { kernels = { count = 10000, time = 3e7 }, launches = 10000 } }, expect = "cannot_tell" },
  },
}
