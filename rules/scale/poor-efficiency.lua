-- More GPUs bring little: the speedup over the smaller run is far below the ratio of the GPUs. What
-- holds the larger run back is in its own findings; this rule only says that the price is not worth it.
return {
  id        = "scale/poor-efficiency",
  title     = "Find what the added GPUs wait for before you use them",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "design",
  knowledge = { "K-M1", "K-M2", "K-N11", "K-C2" },

  needs      = { "scale.runs", "scale.devices_before", "scale.devices_after", "scale.speedup", "scale.efficiency" },
  thresholds = { "max_efficiency" },

  symptom = "{after:count} GPUs do the same work {speedup:num} times as fast as {before:count}: an efficiency of {efficiency:pct}.",
  cause   = "{lost:pct} of the added GPUs' time is spent waiting: for input, for each other, or for work that is too small to share.",
  fixes   = {
    { action = "First work through the findings of the larger run: advise RUN, from the top" },
    { action = "Give each GPU a larger batch, so that communication and host work weigh less" },
    { action = "Overlap the gradient exchange with the backward pass, and accumulate gradients over several micro-steps" },
    { action = "Use no more GPUs than the program can keep busy" },
  },
  false_positives = "GPUs that were added for their memory, not for their speed.",
  references = { "pytorch/tuning-guide" },

  applies = function(f)
    if not (f.scale.runs >= 2) then return false, "one run alone does not show how the program scales" end
    return f.scale.devices_after > f.scale.devices_before, "the second run does not use more GPUs"
  end,

  detect = function(f, t)
    if not at_most(f.scale.efficiency, t.max_efficiency) then return nil end
    return { before = f.scale.devices_before, after = f.scale.devices_after, speedup = f.scale.speedup,
             efficiency = f.scale.efficiency, lost = 1 - f.scale.efficiency }
  end,

  tests = {
    { name = "217 s on one GPU, 179 s on four (K-M1)",
      edges = { ["scale.efficiency"] = 0.7 },
      facts = { scale = { runs = 2, devices_before = 1, devices_after = 4, speedup = 217 / 179,
                          efficiency = 217 / 179 / 4 } },
      expect = { speedup = 1.2122905, efficiency = 0.3030726, before = 1, after = 4 } },
    { name = "near miss: 3.4 times as fast on four",
      facts = { scale = { runs = 2, devices_before = 1, devices_after = 4, speedup = 3.4, efficiency = 0.85 } },
      expect = "silent" },
    { name = "one run",
      facts = { scale = { runs = 1 } }, expect = "not_applicable" },
    { name = "the same number of GPUs",
      facts = { scale = { runs = 2, devices_before = 4, devices_after = 4, speedup = 1, efficiency = 1 } },
      expect = "not_applicable" },
    { name = "no steps and no times",
      facts = { scale = { runs = 2, devices_before = 1, devices_after = 4 } }, expect = "cannot_tell" },
  },
}
