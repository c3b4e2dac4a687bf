-- A thread asks again and again whether work is done (cudaEventQuery, cudaStreamQuery): it keeps a core busy and takes
-- locks in the driver that launches need.
return {
  id        = "sync/query-spin",
  title     = "Wait for events instead of polling them",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-H12", "K-G5" },

  needs      = { "calls.query.count", "window.time" },
  thresholds = { "min_rate" },

  symptom = "The launching threads poll events or streams {rate:count} times per second.",
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
    return { rate = rate }
  end,

  tests = {
    { name = "a polling loop",
      edges = { ["window.time"] = 5e9 },
      facts = { calls = { query = { count = 50000 } }, window = { time = 1e9 } },
      expect = { rate = 50000 } },
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
