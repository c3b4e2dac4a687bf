-- Something runs on the GPU nearly all of the time, and most of its SMs have nothing to do meanwhile. Samples show the width that is
-- used; which kernels are narrow kernel/small-grid says, and takes their time first. What is left to this rule are kernels inside whole graphs,
-- whose grids no table holds, and blocks of uneven length. With all SMs at work, a kernel would take the active share of its time; but memory
-- is at full rate before that (saturating), and how much of the work can be spread the samples do not show (winnable).
return {
  id        = "kernel/low-sm-active",
  title     = "Give all SMs work",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  knowledge = { "K-F2", "K-K15", "K-H2", "K-F1" },
  effort    = "code",

  needs      = { "sample.compute.sm_active", "sample.compute.samples", "budget.compute", "window.time" },
  optional   = { "sample.window.gr_active", "sample.compute.lost" },
  thresholds = { "min_busy", "max_active", "min_samples", "saturating", "winnable" },

  symptom = "The GPU computes {busy:pct} of the time, but then only {active:pct} of its SMs have work ({samples:count} samples).",
  cause   = "Kernels have few blocks, or their last blocks run alone, so SMs stay empty.",
  fixes   = {
    { action = "Use a larger batch, or more data per kernel" },
    { action = "Run independent kernels on several streams" },
    { action = "Share the GPU between small jobs", snippet = "nvidia-cuda-mps-control -d", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Samples count all users of the GPU. Another job's small kernels look like those of this job.",
  references = { "nsys/gpu-metrics", "cuda/mps" },

  applies = function(f) return f.budget.compute > 0, "the GPU computes nothing" end,

  detect = function(f, t)
    if not at_least(f.sample.compute.samples, t.min_samples) then return nil end
    local busy = share(f.budget.compute, f.window.time)
    if not at_least(busy, t.min_busy) or not at_most(f.sample.compute.sm_active, t.max_active) then return nil end
    return { busy = busy, active = f.sample.compute.sm_active, samples = f.sample.compute.samples, gr = f.sample.window.gr_active }
  end,

  saving = function(f, t, e)
    local headroom = 1 - share(e.active, t.saturating)
    if headroom <= 0 or f.sample.compute.lost == nil then return nil end
    return { claims = f.sample.compute.lost, part = headroom * t.winnable, confidence = 0.25,
             basis = "kernels use more SMs, up to as many as memory can feed, and save a part of their time" }
  end,

  tests = {
    { name = "busy all the time with a fifth of the SMs",
      edges = { ["budget.compute"] = 5e8, ["sample.compute.samples"] = 50, ["sample.compute.sm_active"] = 0.5 },
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 }, sample = { compute = { sm_active = 0.2, samples = 5000, lost = 9e8 } } },
      expect = { busy = 0.9, active = 0.2, samples = 5000 },
      saving = { claims = 9e8, part = 0.2 } },
    { name = "near miss: most SMs at work",
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 }, sample = { compute = { sm_active = 0.85, samples = 5000 } } }, expect = "silent" },
    { name = "near miss: the GPU is idle most of the time, which others explain",
      facts = { window = { time = 1e9 }, budget = { compute = 1e8 }, sample = { compute = { sm_active = 0.2, samples = 5000 } } }, expect = "silent" },
    { name = "near miss: a handful of samples",
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 }, sample = { compute = { sm_active = 0.2, samples = 5 } } }, expect = "silent" },
    { name = "nothing computes", facts = { window = { time = 1e9 }, budget = { compute = 0 } }, expect = "not_applicable" },
    { name = "no samples", facts = { window = { time = 1e9 }, budget = { compute = 9e8 } }, expect = "cannot_tell" },
  },
}
