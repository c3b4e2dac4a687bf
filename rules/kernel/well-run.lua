-- Kernels that already run as well as those of good libraries: nobody should spend time on tuning them.
return {
  id        = "kernel/well-run",
  title     = "Leave these kernels as they are: they run as well as good libraries do",
  status    = "stable",
  since     = "0.2",
  kind      = "info",
  priority  = 10,
  knowledge = { "K-E1", "K-L9" },
  effort    = "code",

  needs      = { "roofline.well.share", "roofline.well.rows" },
  thresholds = { "min_share" },

  symptom = "Kernels that run as well as good libraries take {share:pct} of the kernel time, mostly {op:text} {shape:text} in {dtype:text} ({kernel:text}): {attained:pct} of {roof:text}.",
  cause   = "The kernels reach the rate that was measured for such sizes on this GPU. Tuning them gains nothing; only less work or smaller types do.",
  fixes   = {
    { action = "Leave these kernels as they are, and look at the others first" },
    { action = "To save time here, do less work: smaller types, fewer or smaller layers, nothing computed twice" },
  },
  false_positives = "Work that is not needed at all can run well, too.",
  references = { "nvidia/gpu-background" },

  applies = function(f) return #f.roofline.well.rows > 0, "no operator with recorded sizes runs that well" end,

  detect = function(f, t)
    local well = f.roofline.well
    if not at_least(well.share, t.min_share) then return nil end
    local rows = top(well.rows, "time", 5)
    return adopt({ share = well.share, rows = rows }, rows[1])
  end,

  tests = {
    { name = "large products at three quarters of the peak",
      edges = { ["roofline.well.share"] = 0.3 },
      facts = { roofline = { well = { share = 0.7, rows = { { op = "aten::mm", shape = "[8192, 8192] x [8192, 8192]", dtype = "bf16", kernel = "nvjet_tst",
                                                              roof = "the peak", attained = 0.74, time = 7e8 } } } } },
      expect = { share = 0.7, op = "aten::mm", attained = 0.74, roof = "the peak", rows = 1 } },
    { name = "near miss: a small part only",
      facts = { roofline = { well = { share = 0.1, rows = { { op = "aten::add", shape = "[8192]", dtype = "fp32", kernel = "add", roof = "the memory bandwidth",
                                                              attained = 0.9, time = 1e8 } } } } },
      expect = "silent" },
    { name = "nothing runs that well", facts = { roofline = { well = { share = 0, rows = {} } } }, expect = "not_applicable" },
    { name = "sizes were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
