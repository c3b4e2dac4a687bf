-- What goes wrong here, and by which mechanism it costs time: two or three lines.
return {
  id        = "area/name",
  title     = "Say what to do in one line",
  status    = "experimental",
  since     = "0.1",
  kind      = "root",
  scope     = "device",
  explains  = {},
  knowledge = { "K-H11" },
  effort    = "code",

  needs      = { "window.device_time", "copy.pageable.bytes", "copy.pageable.lost", "copy.pageable.remedy" },
  thresholds = { "min_share" },

  symptom = "{share:pct} of the time goes to something.",
  cause   = "It happens because of something.",
  fixes   = {
    { action = "Do this", snippet = "x = x.to(device, non_blocking=True)", language = "python" },
  },
  false_positives = "When it is meant to be so.",
  references = {},

  -- Is there anything to judge?
  applies = function(f) return f.copy.pageable.bytes > 0, "there is no such thing in the run" end,

  -- Evidence, or nil for "fine".
  detect = function(f, t)
    local lost = share(f.copy.pageable.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    return { share = lost, bytes = f.copy.pageable.bytes }
  end,

  -- What could be won.
  saving = function(f)
    return { claims = f.copy.pageable.lost, remedy = f.copy.pageable.remedy, confidence = 0.5,
             basis = "time lost to it" }
  end,

  tests = {
    { name = "half the time is lost",
      facts = { window = { device_time = 1e9 }, copy = { pageable = { bytes = 5e9, lost = 5e8, remedy = true } } },
      expect = { share = 0.5 },
      saving = { claims = 5e8, remedy = 1 } },
    { name = "near miss: it happens, but hardly costs time",
      facts = { window = { device_time = 1e9 }, copy = { pageable = { bytes = 5e9, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "not applicable: it does not happen",
      facts = { window = { device_time = 1e9 }, copy = { pageable = { bytes = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
  },
}
