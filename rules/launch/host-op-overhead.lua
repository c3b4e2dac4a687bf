-- The code between launches, the framework's operators or Python, costs the GPU more than launching does: idle time in
-- gaps, spread over the step, in which the launching thread runs code and calls nothing of CUDA.
return {
  id        = "launch/host-op-overhead",
  title     = "Reduce the host's work between launches",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "code",
  topic     = "host-operators",
  priority  = 30,
  explains  = { "host/cpu-bound", "host/tensor-conversions", "step/backward-gaps" },
  knowledge = { "K-A8" },

  needs_loop = true,
  needs      = { "window.device_time", "launch.count", "launch.framework.lost" },
  optional   = { "launch.kernels_per_step", "launch.call.median", "steps.count", "run.devices", "op.host_heavy",
                 "op.host_heavy_time", "op.per_step" },
  thresholds = { "min_share", "min_gaps" },

  symptom = "The GPU is idle for {share:pct} of the time while the launching thread runs framework or user code between launches{op_text:text}.",
  cause   = "The host's share of each operator takes longer than the GPU's share.",
  fixes   = {
    { action = "Compile the model, so that its operators run without Python and in fewer kernels",
      snippet = 'model = torch.compile(model, mode="reduce-overhead")', language = "python", ["for"] = { "pytorch" } },
    { action  = "See which operators cost the host most",
      snippet = 'print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=20))', language = "python", ["for"] = { "pytorch" } },
    { action = "Replace loops over small tensors with one batched operation" },
    { action = "Move checks, hooks, logging and metrics out of the step; turn off anomaly detection and autograd profiling", ["for"] = { "pytorch" } },
  },
  false_positives = "Ranges and call stacks that the profiler records make Python slower than it is.",
  references = { "pytorch/compile", "pytorch/tuning-guide", "pytorch/profiler" },

  applies = function(f) return f.launch.count > 0, "nothing was launched" end,

  detect = function(f, t)
    local lost = share(f.launch.framework.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    local gaps = share(f.launch.framework.lost.count, (f.steps.count or 1) * (f.run.devices or 1))
    if not at_least(gaps, t.min_gaps) then return nil end
    local op = f.op.host_heavy
    local op_text = op and "; of " .. in_words(math.floor(f.op.per_step or 0), "count") .. " operators " .. (f.steps.count and "per step" or "in the window") .. ", " .. op .. " takes the most host time" or ""
    return { share = lost, gaps = gaps, op_text = op_text, op = op, op_time = f.op.host_heavy_time, kernels_per_step = f.launch.kernels_per_step, call = f.launch.call.median }
  end,

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "with the operators of a framework's trace",
      edges = { ["launch.framework.lost"] = 5e7, ["launch.framework.lost.count"] = 20 },
      facts = { window = { device_time = 1e9 }, steps = { count = 10 },
                launch = { count = 5000, framework = { lost = { time = 3e8, count = 200 } }, call = { median = 5000 } },
                op = { host_heavy = "aten::linear", host_heavy_time = 2e8, per_step = 812.4 } },
      expect = { share = 0.3, op = "aten::linear", op_time = 2e8,
                 op_text = "; of 812 operators per step, aten::linear takes the most host time" } },
    { name = "Python takes a third of the time",
      facts = { window = { device_time = 1e9 }, steps = { count = 10 },
                launch = { count = 5000, framework = { lost = { time = 3e8, count = 200 } }, call = { median = 5000 } } },
      expect = { share = 0.3, gaps = 20, call = 5000, op_text = "" } },
    { name = "near miss: work on the host between the steps",
      facts = { window = { device_time = 1e9 }, steps = { count = 5 },
                launch = { count = 50, framework = { lost = { time = 5e8, count = 4 } } } },
      expect = "silent" },
    { name = "near miss: some code in a few gaps",
      facts = { window = { device_time = 1e9 }, launch = { count = 5000, framework = { lost = { time = 2e7, count = 100 } } } },
      expect = "silent" },
    { name = "nothing was launched", facts = { window = { device_time = 1e9 }, launch = { count = 0 } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
