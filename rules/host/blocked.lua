-- The launching thread is blocked in the operating system (poll, condition, semaphore) while the GPU is idle or only copies.
-- The wait is a symptom: another thread or process is slow. What it waits for would run beside those copies.

-- A server's thread waits once for each request. Where no other recorded thread works meanwhile, a wait for the next request looks
-- like a wait for a thread or process that was not recorded.
local function may_await_requests(f, t)
  return f.run.request_waits == "as-wait" and at_most(f.host.os_wait.per_step, t.max_waits_of_request)
end

return {
  id        = "host/blocked",
  title     = "Find which thread or process the launching thread waits for",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "code",
  priority  = 25,
  knowledge = { "K-G2", "K-G5", "K-B2" },

  needs_loop = true,
  loss       = "host.os_wait",
  evidence   = { count = "per_step" },
  needs      = { "host.os_wait.remedy" },
  optional   = { "serving.no_request.lost", "run.request_waits" },
  thresholds = { "min_share", "min_count", "max_waits_of_request" },

  symptom = "For {share:pct} of the time, the launching thread is blocked in the operating system while the GPU is idle or only copies data ({count:num} waits {per:text}).{alone_text:text}",
  cause   = "It waits for another thread or process, such as a data loader, a queue, a lock or a server.",
  fixes   = {
    { action  = "Record what the other threads do, with named waits and call stacks",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree --backtrace=dwarf -o report -- COMMAND",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "!requests", action = "Give that thread more lead time: prefetch, or use a longer queue" },
  },
  false_positives = "Programs that wait for requests.",
  references = { "nsys/user-guide" },

  applies = function(f)
    local idle = f.serving.no_request.lost
    if idle and f.host.os_wait.lost and 2 * idle.time > f.host.os_wait.lost.time then
      return false, "the server waits for requests"
    end
    return f.host.os_wait.per_step > 0, "the operating system does not block the launching thread in the loop"
  end,

  detect = function(f, t, e)
    local requests = may_await_requests(f, t)
    e.reason = requests and "requests" or "thread"
    e.alone_text = requests and " No other recorded thread works meanwhile, so this thread may only be waiting for requests." or ""
    return e
  end,

  -- What nobody asked for is no time to win.
  saving = function(f, t, e)
    if e.reason == "requests" then return nil end
    return { claims = f.host.os_wait.lost, remedy = f.host.os_wait.remedy, confidence = 0.4,
             basis = "the launching thread does not have to wait" }
  end,

  tests = {
    { name = "a wait for another thread in each step",
      edges = { ["host.os_wait.lost"] = 2e7, ["host.os_wait.per_step"] = 0.2 },
      facts = { window = { device_time = 1e9 }, host = { os_wait = { per_step = 10, lost = 9e7, remedy = true } } },
      expect = { share = 0.09, count = 10 },
      saving = { claims = 9e7, confidence = 0.4 } },
    { name = "one wait per step, and nobody else is seen at work: for a request, or for a thread that was not recorded",
      edges = { ["host.os_wait.per_step"] = 1.15 },
      facts = { window = { device_time = 1e9 }, run = { request_waits = "as-wait" }, host = { os_wait = { per_step = 1, lost = 8e8, remedy = true } } },
      expect = { share = 0.8, reason = "requests", alone_text = " No other recorded thread works meanwhile, so this thread may only be waiting for requests." } },
    { name = "near miss: several waits in each step are for threads of the program",
      facts = { window = { device_time = 1e9 }, run = { request_waits = "as-wait" }, host = { os_wait = { per_step = 3, lost = 8e8, remedy = true } } },
      expect = { share = 0.8, reason = "thread", alone_text = "" }, saving = { claims = 8e8, confidence = 0.4 } },
    { name = "a server without requests",
      facts = { window = { device_time = 1e9 }, host = { os_wait = { per_step = 10, lost = 9e8, remedy = true } },
                serving = { no_request = { lost = 8e8 } } },
      expect = "not_applicable" },
    { name = "near miss: short waits",
      facts = { window = { device_time = 1e9 }, host = { os_wait = { per_step = 10, lost = 7.5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, host = { os_wait = { per_step = 0.05, lost = 9e7, remedy = true } } },
      expect = "silent" },
    { name = "the launching thread is not blocked in gaps",
      facts = { window = { device_time = 1e9 }, host = { os_wait = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
