-- A thread asks again and again whether work is done (cudaEventQuery, cudaStreamQuery): it keeps a core busy and takes
-- locks in the driver that launches need. A loop that asks until the GPU is done is a wait, and loses little inside the calls;
-- what the GPU loses while the thread that launches asks is claimed.
return {
  id        = "sync/query-spin",
  title     = "Wait for events instead of polling them",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 72,
  explains  = { "launch/bound", "launch/graph-candidate", "launch/host-op-overhead", "host/cpu-bound" },
  knowledge = { "K-H12", "K-G5" },

  needs      = { "calls.query.count", "window.time" },
  optional   = { "calls.query.lost", "calls.query.remedy", "window.device_time" },
  thresholds = { "min_rate", "min_share" },

  symptom = "The launching threads poll events or streams {rate:count} times per second{lost_text:text}.",
  cause   = "A loop asks again and again whether work is done (cudaEventQuery, cudaStreamQuery). It keeps a core busy and takes driver locks that launches need.",
  fixes   = {
    { action  = "Wait, and let the thread sleep meanwhile",
      snippet = [[cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDisableTiming);
cudaEventSynchronize(event);]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Use a host callback (cudaLaunchHostFunc)", ["for"] = { "c++" } },
    { action  = "Wait for the event instead of asking it in a loop",
      snippet = "done = torch.cuda.Event(blocking=True)   # once\ndone.record()                            # behind the work\ndone.synchronize()                       # not: while not done.query(): pass",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Wait for the result, and do not ask for it in a loop",
      snippet = "jax.block_until_ready(out)   # instead of: while not out.is_ready(): pass", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Allocators that check events when memory is requested.",
  references = { "cuda-runtime/sync-behavior" },

  applies = function(f)
    return f.calls.query.count > 0, "no thread polls events or streams"
  end,

  detect = function(f, t)
    local rate = share(f.calls.query.count, f.window.time) * 1e9
    if not at_least(rate, t.min_rate) then return nil end
    local lost = f.calls.query.lost and f.window.device_time and share(f.calls.query.lost.time, f.window.device_time) or 0
    local waits = at_least(lost, t.min_share)
    return { rate = rate, share = waits and lost or 0,
             lost_text = waits and ". The GPU waits " .. in_words(lost, "pct") .. " of the time for that" or "" }
  end,

  saving = function(f, _, e)
    if e.share == 0 then return nil end
    return { claims = f.calls.query.lost, remedy = f.calls.query.remedy, confidence = 0.6,
             basis = "the launching thread does not poll" }
  end,

  tests = {
    { name = "a polling loop",
      edges = { ["window.time"] = 5e9 },
      facts = { calls = { query = { count = 50000 } }, window = { time = 1e9 } },
      expect = { rate = 50000, share = 0, lost_text = "" } },
    { name = "the GPU runs dry while the thread that launches asks",
      edges = { ["calls.query.lost"] = 2e7 },
      facts = { calls = { query = { count = 50000, lost = 2.1e7, remedy = true } }, window = { time = 1e9, device_time = 1e9 } },
      expect = { rate = 50000, share = 0.021 },
      saving = { claims = 2.1e7, confidence = 0.6 } },
    { name = "near miss: a loop that asks until the GPU is done",
      facts = { calls = { query = { count = 50000, lost = 1e6, remedy = true } }, window = { time = 1e9, device_time = 1e9 } },
      expect = { share = 0 } },
    { name = "near miss: an allocator",
      facts = { calls = { query = { count = 500 } }, window = { time = 1e9 } },
      expect = "silent" },
    { name = "none",
      facts = { calls = { query = { count = 0 } }, window = { time = 1e9 } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
