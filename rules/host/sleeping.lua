-- The launching thread sleeps (time.sleep, usleep) while the GPU has nothing to do: polling for a result, rate limits,
-- waits for a file. Or a timer starts each iteration, as in a renderer or a simulation in real time: the thread sleeps for what
-- is left of a period, and the GPU could do more, but is not asked to.

-- How often per second iterations start, where that is a rate that people set and hardly varies: 50 or 60, but not 57.3.
-- A timer's sleeps vary with the work, its periods do not. Behind a pause of fixed length, the period varies as the pause
-- does, and the even rate is a coincidence.
local function set_rate(f, t, e)
  local mean, jitter = f.steps.mean, f.steps.jitter
  if not mean or not jitter or mean <= 0 or not at_most(f.host.sleep.per_step, t.most_when_paced) then return nil end
  if not at_most(jitter, t.paced_jitter) or not at_least(e.share, t.paced_share) then return nil end
  local spread = f.host.sleep.spread
  if not spread or spread <= 0 or not at_most(share(jitter * mean, spread), t.paced_spread) then return nil end
  local rate = 1e9 / mean
  for _, unit in ipairs({ 5, 12 }) do
    local multiple = math.floor(rate / unit + 0.5)
    if multiple > 0 and at_most(math.abs(rate / unit - multiple), t.paced_near) then return multiple * unit end
  end
end

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
  optional   = { "steps.mean", "steps.jitter", "host.sleep.spread", "host.sleep.remedy" },
  thresholds = { "min_share", "min_count", "most_when_paced", "paced_jitter", "paced_spread", "paced_near", "paced_share" },

  symptom = "The launching thread sleeps {count:count} times {per:text}. Meanwhile, the GPU is idle for {share:pct} of the time.{pace:text}",
  cause   = "{why:text}",
  fixes   = {
    { reason = "paced", action = "Turn off the limit for a measurement (vertical synchronization, a frame limiter, a fixed time step): what is left is the time of the work itself" },
    { reason = "paced", action = "If the rate is wanted, use the time that is left: a finer model, more samples, or a second job on the GPU" },
    { reason = "!paced", action  = "Wait for the event itself instead of polling",
      snippet = "event.synchronize()                        # instead of: while not event.query(): time.sleep(0.001)",
      language = "python", ["for"] = { "pytorch", "cupy" } },
    { reason = "!paced", action = "Wait for the result itself instead of polling",
      snippet = "jax.block_until_ready(out)   # instead of: while not out.is_ready(): time.sleep(0.001)", language = "python", ["for"] = { "jax" } },
    { reason = "!paced", action = "Poll on another thread, and queue work for the GPU meanwhile" },
    { reason = "!paced", action = "Shorten the pause; on Linux, a sleep lasts at least about 50 µs longer than requested" },
  },
  false_positives = "Servers that have no request to work on.",
  references = { "cuda-runtime/sync-behavior" },

  detect = function(f, t, e)
    local rate = set_rate(f, t, e)
    e.reason = rate and "paced" or nil
    e.pace = rate and " Iterations start " .. rate .. " times per second, whatever they take." or ""
    e.why = rate and "A timer paces the loop. If that rate is wanted, nothing is lost, and the GPU has time left."
                 or "The program polls for something, with fixed pauses in between."
    return e
  end,

  saving = function(f, t, e)
    -- Work that is done in time saves nobody's time when it is done sooner.
    if e.reason == "paced" then return nil end
    return { claims = f.host.sleep.lost, remedy = f.host.sleep.remedy, confidence = 0.65,
             basis = "the launching thread does not sleep in the loop" }
  end,

  tests = {
    { name = "a poll every millisecond",
      edges = { ["host.sleep.lost"] = 5e6, ["host.sleep.per_step"] = 0.15 },
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "a timer that now and then needs two sleeps, and is a little late",
      facts = { window = { device_time = 1e9 }, host = { sleep = { spread = 2.4e5, per_step = 1.4, lost = 2.2e8, remedy = true } }, steps = { mean = 1.67224e7, jitter = 0.009 } },
      expect = { reason = "paced", pace = " Iterations start 60 times per second, whatever they take." } },
    { name = "near miss of a timer: more sleeps",
      facts = { window = { device_time = 1e9 }, host = { sleep = { spread = 2e5, per_step = 1.6, lost = 7e8, remedy = true } }, steps = { mean = 1.6667e7, jitter = 0.002 } },
      expect = { why = "The program polls for something, with fixed pauses in between." } },
    { name = "near miss of a timer: iterations vary more",
      facts = { window = { device_time = 1e9 }, host = { sleep = { spread = 2e6, per_step = 1, lost = 7e8, remedy = true } }, steps = { mean = 1.6667e7, jitter = 0.011 } },
      expect = { why = "The program polls for something, with fixed pauses in between." } },
    { name = "near miss of a timer: no rate that people set",
      facts = { window = { device_time = 1e9 }, host = { sleep = { spread = 2e5, per_step = 1, lost = 7e8, remedy = true } }, steps = { mean = 1.67448e7, jitter = 0.002 } },
      expect = { why = "The program polls for something, with fixed pauses in between." } },
    { name = "near miss of a timer: short pauses, and a rate that is even by chance",
      facts = { window = { device_time = 1e9 }, host = { sleep = { spread = 2e6, per_step = 1, lost = 1.6e8, remedy = true } }, steps = { mean = 5.88235e6, jitter = 0.006 } },
      expect = { why = "The program polls for something, with fixed pauses in between." } },
    { name = "near miss of a timer: pauses of fixed length, by which iterations vary",
      facts = { window = { device_time = 1e9 }, host = { sleep = { spread = 4e4, per_step = 1, lost = 7e8, remedy = true } }, steps = { mean = 1.6667e7, jitter = 0.002 } },
      expect = { why = "The program polls for something, with fixed pauses in between." }, saving = { claims = 7e8 } },
    { name = "near miss of a timer: how long it sleeps is not known",
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 1, lost = 7e8, remedy = true } }, steps = { mean = 1.6667e7, jitter = 0.002 } },
      expect = { why = "The program polls for something, with fixed pauses in between." } },
    { name = "a frame limiter at 60 Hz",
      facts = { window = { device_time = 1e9 }, host = { sleep = { spread = 5e4, per_step = 1, lost = 7e8, remedy = true } }, steps = { mean = 1.6667e7, jitter = 0.002 } },
      expect = { reason = "paced", pace = " Iterations start 60 times per second, whatever they take." } },
    { name = "pauses of fixed length behind work that varies",
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 1, lost = 7e8, remedy = true } }, steps = { mean = 1.6667e7, jitter = 0.08 } },
      expect = { count = 1 },
      saving = { claims = 7e8 } },
    { name = "near miss: short sleeps behind a full queue",
      facts = { window = { device_time = 1e9 }, host = { sleep = { per_step = 10, lost = 4e6, remedy = true } } },
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
