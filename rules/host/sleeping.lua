-- The launching thread sleeps (time.sleep, usleep) while the GPU has nothing to do: polling for a result, rate limits,
-- waits for a file. Sleeps that a timer ends, as in a renderer, are those of host/keeps-pace.
return {
  id        = "host/sleeping",
  title     = "Do not sleep on the thread that launches GPU work",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 71,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-G2", "K-H3" },

  needs_loop = true,
  loss       = "host.sleep",
  evidence   = { count = "per_step" },
  optional   = { "host.sleep.remedy", "steps.stall.what" },
  thresholds = { "min_share", "often" },

  symptom = "The launching thread sleeps {count:count} times {per:text}. Meanwhile, the GPU is idle for {share:pct} of the time.",
  cause   = "The program polls for something, with fixed pauses in between.",
  fixes   = {
    { action  = "Wait for the event itself instead of polling",
      snippet = "event.synchronize()                        # instead of: while not event.query(): time.sleep(0.001)",
      language = "python", ["for"] = { "pytorch", "cupy" } },
    { action = "Wait for the result itself instead of polling",
      snippet = "jax.block_until_ready(out)   # instead of: while not out.is_ready(): time.sleep(0.001)", language = "python", ["for"] = { "jax" } },
    { action = "Poll on another thread, and queue work for the GPU meanwhile" },
    { action = "Shorten the pause; on Linux, a sleep lasts at least about 50 µs longer than requested" },
  },
  false_positives = "Servers that have no request to work on.",
  references = { "cuda-runtime/sync-behavior" },

  -- Now and then is no habit, unless it comes at a regular distance.
  detect = function(f, t, e)
    local regular = f.steps.stall.what == "sleeping"
    return (regular or at_least(e.count, t.often)) and e or nil
  end,

  saving = { claims = "host.sleep.lost", remedy = "host.sleep.remedy", confidence = 0.65,
             basis = "the launching thread does not sleep in the loop" },

  tests = {
    { name = "a poll every millisecond",
      edges = { ["host.sleep.lost"] = 5e6, ["host.sleep.per_step"] = 0.15 },
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: short sleeps behind a full queue",
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 10, lost = 4e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "it polls with a pause every twentieth step",
      facts = { window = { device_time = 1e9 }, steps = { stall = { what = "sleeping" } },
                host = { sleep = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 0.05 } },
    { name = "near miss: now and then, and steps are slow for another reason",
      facts = { window = { device_time = 1e9 }, steps = { stall = { what = "logging" } },
                host = { sleep = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "the launching thread never sleeps",
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
