-- The launching thread sits in synchronizing calls although its GPU is not computing. What it waits for (a copy, another
-- GPU, work that it should have launched meanwhile) is the cause, and other rules name it. A wait for a GPU that computes
-- is back-pressure, the sign of a run that is limited by the GPU, and never counts.
return {
  id        = "sync/host-busy-wait",
  title     = "Find out what the launching thread waits for while the GPU does not compute",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "code",
  priority  = 30,
  knowledge = { "K-G5" },

  needs      = { "window.time", "sync.count", "sync.time", "sync.busy_wait.time" },
  optional   = { "sync.loop.name" },
  thresholds = { "min_share" },

  symptom = "{spent:text} in synchronization calls while its GPU does not compute.",
  cause   = "The host waits for a copy, for another GPU, or for work that it launched too late.",
  fixes   = {
    { action = "Start with the finding that explains this one; if there is none, look at what runs on the GPU during the wait" },
    { action  = "Order work with events on the GPU, so that the host need not wait",
      snippet = "torch.cuda.current_stream().wait_event(copied)      # cudaStreamWaitEvent", language = "python", ["for"] = { "pytorch" } },
    { action = "Queue the next step's work before you wait for the result of the current one" },
  },
  false_positives = "A server that waits for its next request, or the last wait of a short run.",
  references = { "cuda-runtime/sync-behavior" },

  applies = function(f) return f.sync.count > 0, "there are no synchronization calls" end,

  detect = function(f, t)
    local wait = share(f.sync.busy_wait.time, f.window.time)
    if not at_least(wait, t.min_share) then return nil end
    -- Threads that wait at once may add up to more than the window.
    local several = f.sync.busy_wait.time > f.window.time
    local spent = several and "On average, more than one launching thread is"
      or "The launching thread spends " .. in_words(wait, "pct") .. " of the time"
    return { spent = spent, share = wait, count = f.sync.count, time = f.sync.busy_wait.time, all = f.sync.time, call = f.sync.loop.name }
  end,

  tests = {
    { name = "waiting for copies",
      edges = { ["sync.busy_wait.time"] = 1.5e8 },
      facts = { window = { time = 1e9 }, sync = { count = 40, time = 7e8, busy_wait = { time = 6e8 } } },
      expect = { share = 0.6, count = 40, time = 6e8, all = 7e8 } },
    { name = "several threads wait at once",
      facts = { window = { time = 1e9 }, sync = { count = 40, time = 2e9, busy_wait = { time = 1.6e9 } } },
      expect = { spent = "On average, more than one launching thread is" } },
    { name = "near miss: waiting for a GPU that computes",
      facts = { window = { time = 1e9 }, sync = { count = 20, time = 9.5e8, busy_wait = { time = 2e7 } } },
      expect = "silent" },
    { name = "no waits", facts = { window = { time = 1e9 }, sync = { count = 0, time = 0, busy_wait = { time = 0 } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { time = 1e9 } }, expect = "cannot_tell" },
  },
}
