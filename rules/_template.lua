-- What goes wrong here, and by which mechanism it costs time: two or three lines.
return {
  id        = "area/name",
  title     = "Say what to do in one line",
  status    = "experimental",
  since     = "0.1",
  kind      = "root",
  explains  = {},
  knowledge = { "K-H11" },
  effort    = "code",

  -- The group of facts that tells what is lost: `advise facts --list`. From it come the share of the time that is lost, its
  -- comparison with min_share, and the saving.
  loss           = "copy.pageable",
  not_applicable = "there is no such thing in the run",    -- said when the count is 0
  evidence       = { "count", "bytes" },
  thresholds     = { "min_share" },

  symptom = "{share:pct} of the time goes to something.",
  cause   = "It happens because of something.",
  fixes   = {
    { action = "Do this", snippet = "x = x.to(device, non_blocking=True)", language = "python" },
  },
  false_positives = "When it is meant to be so.",
  references = {},

  -- How sure it is that the fix wins that time, and what is assumed.
  saving = { confidence = 0.5, basis = "time lost to it" },

  tests = {
    { name = "half the time is lost",
      facts = { window = { device_time = 1e9 }, copy = { pageable = { count = 20, bytes = 5e9, lost = 5e8, remedy = true } } },
      expect = { share = 0.5 },
      saving = { claims = 5e8, remedy = 1 } },
    { name = "near miss: it happens, but hardly costs time",
      facts = { window = { device_time = 1e9 }, copy = { pageable = { count = 20, bytes = 5e9, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "not applicable: it does not happen",
      facts = { window = { device_time = 1e9 }, copy = { pageable = { count = 0, bytes = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
  },
}
