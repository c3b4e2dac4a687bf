-- Samples of the clock, while kernels run: far below the highest clock of the GPU. Every kernel takes longer in proportion, and nothing in
-- the timeline shows it.
return {
  id        = "kernel/low-clock",
  title     = "Find out what keeps the GPU's clock low",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 62,
  explains  = { "step/low-mfu" },
  knowledge = { "K-O6", "K-O7" },
  effort    = "flag",
  risk      = "hardware",

  needs      = { "sample.compute.clock", "sample.compute.samples", "budget.compute", "window.time" },
  optional   = { "sample.compute.lost" },
  thresholds = { "max_clock", "min_busy", "min_samples", "winnable" },

  symptom = "While kernels run, the clock of the SMs is at {clock:pct} of the highest one of the GPU ({samples:count} samples).",
  cause   = "Clocks were locked, the power limit was lowered, or heat or the power supply holds them. Every kernel takes longer in proportion.",
  fixes   = {
    { action = "While the job runs, read what holds the clock down", snippet = "nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,TEMPERATURE", language = "bash", ["for"] = { "nvidia" } },
    { action = "If clocks were locked, have the administrators reset them", snippet = "sudo nvidia-smi --reset-gpu-clocks\nsudo nvidia-smi --reset-applications-clocks", language = "bash", ["for"] = { "nvidia" } },
    { action = "If the power limit was lowered, have it set back to the board's own" },
  },
  false_positives = "Clocks that are locked on purpose, for repeatable measurements or to save energy. Small boards whose power limit never allows the highest clock.",
  references = { "nvidia/smi", "nsys/gpu-metrics" },

  applies = function(f) return f.budget.compute > 0, "the GPU computes nothing" end,

  detect = function(f, t)
    if not at_least(f.sample.compute.samples, t.min_samples) then return nil end
    if not at_least(share(f.budget.compute, f.window.time), t.min_busy) or not at_most(f.sample.compute.clock, t.max_clock) then return nil end
    return { clock = f.sample.compute.clock, samples = f.sample.compute.samples }
  end,

  saving = function(f, t, e)
    if f.sample.compute.lost == nil then return nil end
    return { claims = f.sample.compute.lost, part = (1 - e.clock) * t.winnable, confidence = 0.5,
             basis = "most of the compute time follows the clock, which is back at its maximum" }
  end,

  tests = {
    { name = "three quarters of the clock", edges = { ["sample.compute.clock"] = 0.75, ["sample.compute.samples"] = 50, ["budget.compute"] = 5e8 },
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 }, sample = { compute = { clock = 0.5, samples = 5000, lost = 9e8 } } },
      expect = { clock = 0.5, samples = 5000 }, saving = { claims = 9e8, part = 0.4 } },
    { name = "near miss: what heavy kernels run at",
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 }, sample = { compute = { clock = 0.88, samples = 5000 } } }, expect = "silent" },
    { name = "near miss: a GPU that is mostly idle",
      facts = { window = { time = 1e9 }, budget = { compute = 1e8 }, sample = { compute = { clock = 0.5, samples = 5000 } } }, expect = "silent" },
    { name = "nothing computes", facts = { window = { time = 1e9 }, budget = { compute = 0 }, sample = { compute = { clock = 0.5, samples = 5000 } } }, expect = "not_applicable" },
    { name = "no clock in the samples", facts = { window = { time = 1e9 }, budget = { compute = 9e8 } }, expect = "cannot_tell" },
  },
}
