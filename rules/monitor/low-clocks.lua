-- Busy GPUs run at low clocks, and the driver names no reason: somebody set them, or the GPU is in a mode that saves power.
return {
  id        = "monitor/low-clocks",
  title     = "Find out what set the clocks so low",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  explains  = { "monitor/busy-but-idle-inside" },
  effort    = "flag",
  observed  = "measured",
  risk      = "hardware",
  knowledge = { "K-O6", "K-O7" },

  needs      = { "monitor.gpus", "monitor.samples" },
  optional   = { "monitor.clock", "monitor.utilization", "monitor.throttled.power", "monitor.throttled.thermal", "monitor.throttled.hardware",
                 "monitor.throttled.brake" },
  thresholds = { "min_samples", "min_utilization", "max_clock", "max_throttled" },

  symptom = "While the GPUs are busy, their SM clock is at {clock:pct} of its known maximum, and the driver names neither heat nor power as the reason.",
  cause   = "Clocks were locked or given as application clocks, a power mode holds them, or the driver lowered them for a fault of the board. Every kernel takes longer in proportion.",
  fixes   = {
    { action = "Read what was set, and by which limit", snippet = "nvidia-smi -q -d CLOCK,PERFORMANCE,POWER", language = "bash", ["for"] = { "nvidia" } },
    { action = "Have the administrators reset it, or set it at the start of the job where they allow that", snippet = "sudo nvidia-smi --reset-gpu-clocks\nsudo nvidia-smi --reset-applications-clocks",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Read the performance level, and set it back to automatic", snippet = "rocm-smi --showperflevel --showclocks\nsudo rocm-smi --setperflevel auto", language = "bash", ["for"] = { "amd" } },
  },
  false_positives = "Clocks that are locked on purpose, for repeatable measurements or to save energy.",
  references = { "nvidia/smi", "nvidia/dcgm" },

  applies = function(f)
    local throttled = f.monitor.throttled
    local told = throttled.power ~= nil or throttled.thermal ~= nil or throttled.hardware ~= nil
    return f.monitor.gpus > 0 and f.monitor.clock ~= nil and told, "no monitor log says how high the clocks are and what keeps them low"
  end,

  detect = function(f, t)
    local throttled = f.monitor.throttled
    if not at_least(f.monitor.samples, t.min_samples) or not at_least(f.monitor.utilization or 0, t.min_utilization) then return nil end
    if not at_most(f.monitor.clock, t.max_clock) then return nil end
    local reason = math.max(throttled.power or 0, throttled.thermal or 0, throttled.hardware or 0, throttled.brake or 0)
    if not at_most(reason, t.max_throttled) then return nil end
    return { clock = f.monitor.clock, throttled = reason }
  end,

  tests = {
    { name = "half of the clock, and no reason is named",
      edges = { ["monitor.clock"] = 0.7, ["monitor.samples"] = 20, ["monitor.utilization"] = 0.5, ["monitor.throttled.power"] = 0.05 },
      facts = { monitor = { gpus = 4, samples = 200, clock = 0.5, utilization = 0.97, throttled = { power = 0, thermal = 0 } } },
      expect = { clock = 0.5 } },
    { name = "near miss: power is the reason",
      facts = { monitor = { gpus = 4, samples = 200, clock = 0.5, utilization = 0.97, throttled = { power = 0.9, thermal = 0 } } }, expect = "silent" },
    { name = "near miss: nearly full clocks",
      facts = { monitor = { gpus = 4, samples = 200, clock = 0.93, utilization = 0.97, throttled = { power = 0, thermal = 0 } } }, expect = "silent" },
    { name = "near miss: GPUs that do little",
      facts = { monitor = { gpus = 4, samples = 200, clock = 0.5, utilization = 0.1, throttled = { power = 0, thermal = 0 } } }, expect = "silent" },
    { name = "the log does not say what keeps clocks low", facts = { monitor = { gpus = 4, samples = 200, clock = 0.5 } }, expect = "not_applicable" },
    { name = "no log", facts = { monitor = { gpus = 0, samples = 0 } }, expect = "not_applicable" },
  },
}
