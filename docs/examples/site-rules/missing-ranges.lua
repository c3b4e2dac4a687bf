-- The support team answers faster when phases are named: this takes the place of the built-in hint and asks for it in the
-- centre's own words.
return {
  id        = "site/missing-ranges",
  replaces  = "capture/no-ranges",
  title     = "Name the phases before you open a support request",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",

  needs      = { "capture.has_ranges", "capture.seconds" },
  thresholds = { "min_seconds" },

  symptom = "The report names no phases.",
  cause   = "The program opens no NVTX ranges.",
  fixes   = {
    { action = "Put a range around data loading, forward, backward and optimizer; the module profiling-tools has helpers",
      snippet = "module load profiling-tools", language = "bash" },
  },
  false_positives = "Programs without phases.",
  references = { "pytorch/nvtx" },

  applies = function(f) return not f.capture.has_ranges, "the report has ranges" end,

  detect = function(f, t)
    if not at_least(f.capture.seconds, t.min_seconds) then return nil end
    return { seconds = f.capture.seconds }
  end,

  tests = {
    { name = "no ranges", facts = { capture = { has_ranges = false, seconds = 30 } }, expect = { seconds = 30 } },
    { name = "near miss: a short trial", facts = { capture = { has_ranges = false, seconds = 0.2 } }, expect = "silent" },
    { name = "ranges", facts = { capture = { has_ranges = true, seconds = 30 } }, expect = "not_applicable" },
  },
}
