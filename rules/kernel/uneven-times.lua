-- Launches of one kernel with one grid that take more than twice their median: data decides (sparsity, lengths),
-- something else runs beside them, or the clocks change.
return {
  id        = "kernel/uneven-times",
  title     = "Find out why the same kernel takes different times",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "design",
  priority  = 28,
  knowledge = { "K-L9", "K-I3" },

  loss       = "kernel.varying",
  evidence   = { "count" },
  optional   = { "run.devices" },
  thresholds = { "min_share", "min_count" },

  symptom = "Some launches took more than twice the median of the same kernel and grid ({count:count} of them). Their excess is {share:pct} of the time.",
  cause   = "The same work meets different conditions: other kernels, collectives or processes run at the same time, clocks are lower, or the data decides how much work there is.",
  fixes   = {
    { reason = "several", action = "Check whether collectives or copies run at the same time (comm/contends-with-compute), and limit their channels" },
    { reason = "one", action = "Check whether copies, other streams or other processes use the GPU at the same time" },
    { action = "Look at clocks and power over time (nvidia-smi dmon)" },
    { action = "If the data decides, balance it: sort by length, limit the number of neighbors" },
  },
  false_positives = "Kernels whose work depends on the data.",
  references = { "nvidia/smi", "ncu/profiling-guide" },

  detect = function(f, t, e)
    e.reason = (f.run.devices or 1) > 1 and "several" or "one"
    return e
  end,

  saving = { confidence = 0.3, basis = "these launches take the median time" },

  tests = {
    { name = "a neighbor on the GPU",
      edges = { ["kernel.varying.count"] = 20, ["kernel.varying.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, kernel = { varying = { count = 200, lost = 9e7, remedy = true } } },
      expect = { share = 0.09, count = 200, reason = "one" },
      saving = { claims = 9e7, confidence = 0.3 } },
    { name = "collectives beside the kernels of eight GPUs",
      facts = { window = { device_time = 8e9 }, run = { devices = 8 }, kernel = { varying = { count = 200, lost = 7e8, remedy = true } } },
      expect = { reason = "several" } },
    { name = "near miss: rare long ones",
      facts = { window = { device_time = 1e9 }, kernel = { varying = { count = 200, lost = 7.5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: a few of them",
      facts = { window = { device_time = 1e9 }, kernel = { varying = { count = 10, lost = 9e7, remedy = true } } },
      expect = "silent" },
    { name = "all launches take about their median",
      facts = { window = { device_time = 1e9 }, kernel = { varying = { count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
