-- The launching thread sleeps (time.sleep, usleep) while the GPU has nothing to do: polling for a result, rate limits,
-- waits for a file.
return {
  id        = "host/sleeping",
  title     = "Do not sleep on the thread that feeds the GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "code",
  priority  = 71,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-G2", "K-H3" },

  needs      = { "window.device_time", "host.sleep.per_step", "host.sleep.lost", "host.sleep.remedy" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_count" },

  symptom = "The launching thread sleeps while the GPU has nothing to do: {share:pct} of the GPU time, {count:count} times a step.",
  cause   = "The program polls for something with fixed pauses.",
  fixes   = {
    { action  = "Wait for the event itself instead of polling",
      snippet = "event.synchronize()                        # instead of: while not event.query(): time.sleep(0.001)",
      language = "python" },
    { action = "Poll on another thread, and queue work for the GPU meanwhile" },
    { action = "Shorten the pause; on Linux it lasts at least about 50 us longer than asked for" },
  },
  false_positives = "Servers that have no request to work on.",
  references = { "cuda-runtime/sync-behaviour" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.host.sleep.per_step > 0, "there is none of it"
  end,

  detect = function(f, t)
    local lost = share(f.host.sleep.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.host.sleep.per_step, t.min_count) then return nil end
    return { share = lost, count = f.host.sleep.per_step }
  end,

  saving = function(f)
    return { claims = f.host.sleep.lost, remedy = f.host.sleep.remedy, confidence = 0.65, basis = "the host does not do this in the loop" }
  end,

  tests = {
    { name = "a poll every millisecond",
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: short sleeps behind a full queue",
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "the launching thread never sleeps",
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
