-- The same kernels with the same grids take longer in the second half of the window than in the first: the device got
-- slower (heat, power), or their data grew (sequence, sparsity, fragmentation of a cache). Steps whose work varies
-- differ between the halves by chance, too: the difference must stand out against the variation from step to step.
-- Grids or uploads that grow along say that the data grew, as in a curriculum: nothing is slow then.
return {
  id        = "kernel/slowing-down",
  title     = "Find out why kernels get slower over time",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "design",
  priority  = 27,
  knowledge = { "K-O7", "K-I3" },

  needs      = { "window.device_time", "kernel.slowing.ratio", "kernel.slowing.share", "kernel.slowing.sigma",
                 "kernel.slowing.lost", "kernel.slowing.remedy" },
  optional   = { "kernel.slowing.data", "kernel.slowing.alike" },
  thresholds = { "min_ratio", "min_compared", "min_sigma", "explained", "min_alike" },

  symptom = "The same kernels took {ratio:num} times as long in the second half of the window as in the first half.",
  cause   = "The GPU became slower, or the kernels' data grew.",
  fixes   = {
    { action  = "Look at clocks, temperature and power during the run",
      snippet = "nvidia-smi --query-gpu=timestamp,clocks.sm,temperature.gpu,power.draw,clocks_event_reasons.active --format=csv -l 1",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Check whether lengths or sizes grow from step to step" },
  },
  false_positives = "Kernels that fill the GPU once and loop inside: their grids do not say that the data grew.",
  references = { "nvidia/smi" },

  applies = function(f)
    return f.kernel.slowing.ratio > 0, "too few launches of the same kernels on both sides of the middle"
  end,

  detect = function(f, t)
    if not at_least(f.kernel.slowing.ratio, t.min_ratio) or not at_least(f.kernel.slowing.share, t.min_compared)
       or not at_least(f.kernel.slowing.sigma, t.min_sigma) then
      return nil
    end
    if f.kernel.slowing.alike and not at_least(f.kernel.slowing.alike, t.min_alike) then return nil end
    local data = f.kernel.slowing.data
    if data and at_least(data - 1, t.explained * (f.kernel.slowing.ratio - 1)) then return nil end
    return { ratio = f.kernel.slowing.ratio, share = share(f.kernel.slowing.lost.time, f.window.device_time) }
  end,

  saving = { claims = "kernel.slowing.lost", remedy = "kernel.slowing.remedy", confidence = 0.3,
             basis = "kernels stay as fast as in the first half" },

  tests = {
    { name = "a GPU that got hot",
      edges = { ["kernel.slowing.share"] = 0.5, ["kernel.slowing.sigma"] = 3.8 },
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 1.3, share = 0.9, sigma = 12, lost = 1e8, remedy = true } } },
      expect = { ratio = 1.3, share = 0.1 },
      saving = { claims = 1e8 } },
    { name = "products and most other kernels of a hot GPU",
      edges = { ["kernel.slowing.alike"] = 0.5 },
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 1.3, share = 0.9, sigma = 12, alike = 0.8, lost = 1e8, remedy = true } } },
      expect = { ratio = 1.3 } },
    { name = "near miss: only attention takes longer, over more and more tokens",
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 1.14, share = 0.9, sigma = 12, alike = 0.2, lost = 1e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: three percent",
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 1.03, share = 0.9, sigma = 12, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: sequences of varying length, which happen to be longer in the second half",
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 1.17, share = 0.9, sigma = 1.8, lost = 8e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: sequences that get longer from step to step, and the grids of elementwise kernels with them",
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 2, share = 0.9, sigma = 12, data = 1.5, lost = 3e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: data that explains a third of it",
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 2, share = 0.9, sigma = 12, data = 1.33, lost = 3e8, remedy = true } } },
      expect = "silent" },
    { name = "data that explains a quarter of it",
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 2, share = 0.9, sigma = 12, data = 1.27, lost = 3e8, remedy = true } } },
      expect = { ratio = 2 } },
    { name = "clocks that fall while data varies a little",
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 1.5, share = 0.9, sigma = 12, data = 1.02, lost = 2e8, remedy = true } } },
      expect = { ratio = 1.5 } },
    { name = "near miss: few kernels could be compared",
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 1.3, share = 0.2, sigma = 12, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "nothing to compare",
      facts = { window = { device_time = 1e9 }, kernel = { slowing = { ratio = 0, share = 0, sigma = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "no kernels",
      facts = {},
      expect = "cannot_tell" },
  },
}
