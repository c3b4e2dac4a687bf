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
  optional   = { "sample.window.gr_active", "sample.compute.lost", "sample.low_sm.share", "sample.low_sm.active", "sample.low_sm.samples", "sample.low_sm.name",
                 "sample.low_sm.lost" },
  thresholds = { "min_low", "min_busy", "max_active", "min_samples", "saturating", "winnable" },

  symptom = "The GPU computes {busy:pct} of the time, but {when:text} only {active:pct} of its SMs have work ({samples:count} samples).",
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
    if not at_least(busy, t.min_busy) then return nil end
    if at_most(f.sample.compute.sm_active, t.max_active) then
      return { busy = busy, active = f.sample.compute.sm_active, samples = f.sample.compute.samples, gr = f.sample.window.gr_active, when = "then", of = "all" }
    end
    -- The largest kernels may leave SMs idle while others, between them, do not.
    local low = f.sample.low_sm
    if low.active and at_least(low.share, t.min_low) then
      return { busy = busy, active = low.active, samples = low.samples, gr = f.sample.window.gr_active, name = low.name, of = "some",
               when = "in kernels that take " .. in_words(low.share, "pct") .. " of that" }
    end
    return nil
  end,

  saving = function(f, t, e)
    local headroom = 1 - share(e.active, t.saturating)
    local lost = e.of == "all" and f.sample.compute.lost or f.sample.low_sm.lost
    if headroom <= 0 or lost == nil then return nil end
    return { claims = lost, part = headroom * t.winnable, confidence = 0.25,
             basis = "kernels use more SMs, up to as many as memory can feed, and save a part of their time" }
  end,

  tests = {
    { name = "busy all the time with a fifth of the SMs",
      edges = { ["budget.compute"] = 5e8, ["sample.compute.samples"] = 50, ["sample.compute.sm_active"] = 0.5 },
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 }, sample = { compute = { sm_active = 0.2, samples = 5000, lost = 9e8 } } },
      expect = { busy = 0.9, active = 0.2, samples = 5000 },
      saving = { claims = 9e8, part = 0.2 } },
    { name = "the products leave SMs idle, and what runs between them does not", edges = { ["sample.low_sm.share"] = 0.3 },
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 }, sample = { compute = { sm_active = 0.53, samples = 5000, lost = 9e8 },
                low_sm = { share = 0.8, active = 0.4, samples = 4000, name = "gemm", lost = 7e8 } } },
      expect = { active = 0.4, samples = 4000, when = "in kernels that take 80 % of that" }, saving = { claims = 7e8 } },
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
