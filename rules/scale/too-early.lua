-- GPUs were added while what holds a single one back still stands: the problem was only copied to more of
-- them. The same finding leads in the smaller run and is still there in the larger one.
return {
  id        = "scale/too-early",
  title     = "Fix the smaller run before you add GPUs",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "design",
  explains  = { "scale/poor-efficiency" },
  knowledge = { "K-M3", "K-M1", "K-H22" },

  needs      = { "scale.runs", "scale.devices_before", "scale.devices_after" },
  optional   = { "scale.bottleneck", "scale.bottleneck_title", "scale.bottleneck_before", "scale.bottleneck_after" },
  thresholds = { "min_before", "min_after" },

  symptom = "{rule:text} costs {share_before:pct} of the run on {before:count} GPUs and still {share_after:pct} on {after:count}.",
  cause   = "The limit is in the program, not in the number of GPUs: every added GPU meets it, too.",
  fixes   = {
    { action = "Start with the smaller run: {title:text}" },
    { action = "On the smaller number of GPUs, make one change at a time, check that results still converge, and profile again; scale up when nothing large is left" },
  },
  false_positives = "GPUs that were added for their memory, not for their speed.",
  references = { "pytorch/tuning-guide" },

  applies = function(f)
    if not (f.scale.runs >= 2) then return false, "one run alone does not show how the program scales" end
    return f.scale.devices_after > f.scale.devices_before, "the second run does not use more GPUs"
  end,

  detect = function(f, t)
    if f.scale.bottleneck == nil then return nil end
    if not at_least(f.scale.bottleneck_before, t.min_before) then return nil end
    if not at_least(f.scale.bottleneck_after, t.min_after) then return nil end
    return { rule = f.scale.bottleneck, title = f.scale.bottleneck_title, share_before = f.scale.bottleneck_before,
             share_after = f.scale.bottleneck_after, before = f.scale.devices_before, after = f.scale.devices_after }
  end,

  tests = {
    { name = "the data loader holds back one GPU, and four",
      edges = { ["scale.bottleneck_after"] = 0.1, ["scale.bottleneck_before"] = 0.1 },
      facts = { scale = { runs = 2, devices_before = 1, devices_after = 4, bottleneck = "input/no-workers",
                          bottleneck_title = "Load data in worker processes", bottleneck_before = 0.9,
                          bottleneck_after = 0.88 } },
      expect = { rule = "input/no-workers", share_before = 0.9, share_after = 0.88, before = 1, after = 4 } },
    { name = "near miss: it was fixed before GPUs were added",
      facts = { scale = { runs = 2, devices_before = 1, devices_after = 4, bottleneck = "input/no-workers",
                          bottleneck_title = "Load data in worker processes", bottleneck_before = 0.9,
                          bottleneck_after = 0 } },
      expect = "silent" },
    { name = "near miss: little is left to win in the smaller run",
      facts = { scale = { runs = 2, devices_before = 1, devices_after = 2, bottleneck = "launch/bound",
                          bottleneck_title = "x", bottleneck_before = 0.04, bottleneck_after = 0.2 } },
      expect = "silent" },
    { name = "the smaller run is healthy",
      facts = { scale = { runs = 2, devices_before = 1, devices_after = 4 } }, expect = "silent" },
    { name = "one run", facts = { scale = { runs = 1 } }, expect = "not_applicable" },
    { name = "how many GPUs there were is not known", facts = { scale = { runs = 2 } }, expect = "cannot_tell" },
  },
}
