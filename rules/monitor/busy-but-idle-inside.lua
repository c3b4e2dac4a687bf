-- "100 % utilized" only means that some kernel ran. Finer counts say how much of the GPU that kernel used: SMs with work where the
-- profiler sampled them, else the power, which stays far below the limit when the SMs wait. What DCGM counts, monitor/idle-sms tells.
return {
  id        = "monitor/busy-but-idle-inside",
  title     = "Measure SM activity instead of GPU utilization",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-O6", "K-O7", "K-G3", "K-G4" },
  effort    = "flag",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.utilization", "monitor.samples" },
  optional   = { "monitor.sm_active", "monitor.busy_power", "sample.window.sm_active" },
  thresholds = { "min_utilization", "max_sm_active", "max_power", "min_samples" },

  symptom = "The monitor reports {utilization:pct} utilization, but {signal:text} is at {value:pct}.",
  cause   = "Utilization counts the time in which any kernel runs, however small, including kernels that only wait for other GPUs.",
  fixes   = {
    { action = "Judge by SM activity: sample it together with utilization", snippet = "dcgmi dmon -e 1001,1002,1004,1005 -d 1000",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Capture a timeline with GPU metrics to see which kernels leave SMs empty",
      snippet = "nsys profile --trace=cuda,nvtx --gpu-metrics-devices=all -o run -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Kernels limited by memory draw less power than compute kernels, and still do useful work.",
  references = { "nvidia/dcgm", "nvidia/smi" },

  applies = function(f) return f.monitor.gpus > 0, "no monitor log was given" end,

  detect = function(f, t)
    if not at_least(f.monitor.samples, t.min_samples) then return nil end
    if not at_least(f.monitor.utilization, t.min_utilization) then return nil end
    if f.monitor.sm_active then return nil end
    local active = f.sample.window.sm_active
    if active then
      if not at_most(active, t.max_sm_active) then return nil end
      return { utilization = f.monitor.utilization, signal = "the share of SMs with work", value = active }
    end
    local power = f.monitor.busy_power
    if power and at_most(power, t.max_power) then
      return { utilization = f.monitor.utilization, signal = "power, as a share of the board's limit,", value = power }
    end
    return nil
  end,

  tests = {
    { name = "98 percent in use, a quarter of the SMs with work",
      edges = { ["monitor.samples"] = 20, ["sample.window.sm_active"] = 0.5, ["monitor.utilization"] = 0.9 },
      facts = { monitor = { gpus = 1, utilization = 0.98, samples = 300 }, sample = { window = { sm_active = 0.25 } } },
      expect = { utilization = 0.98, value = 0.25, signal = "the share of SMs with work" } },
    { name = "no count of SMs, but a quarter of the power",
      edges = { ["monitor.busy_power"] = 0.4 },
      facts = { monitor = { gpus = 1, utilization = 0.98, busy_power = 0.25, samples = 300 } },
      expect = { value = 0.25, signal = "power, as a share of the board's limit," } },
    { name = "near miss: SMs at work, whatever the power",
      facts = { monitor = { gpus = 1, utilization = 0.98, busy_power = 0.3, samples = 300 }, sample = { window = { sm_active = 0.9 } } }, expect = "silent" },
    { name = "near miss: DCGM counts SMs, and another rule tells",
      facts = { monitor = { gpus = 1, utilization = 0.98, sm_active = 0.1, busy_power = 0.3, samples = 300 } }, expect = "silent" },
    { name = "near miss: memory-bound work at two thirds of the power",
      facts = { monitor = { gpus = 1, utilization = 0.98, busy_power = 0.65, samples = 300 } }, expect = "silent" },
    { name = "near miss: the monitor says idle, too",
      facts = { monitor = { gpus = 1, utilization = 0.3, sm_active = 0.1, samples = 300 } }, expect = "silent" },
    { name = "no monitor", facts = { monitor = { gpus = 0 } }, expect = "not_applicable" },
    { name = "the log does not hold utilization", facts = { monitor = { gpus = 1, samples = 300 } }, expect = "cannot_tell" },
  },
}
