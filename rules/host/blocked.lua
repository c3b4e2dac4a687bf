-- The launching thread is blocked in the operating system (poll, condition, semaphore) while the GPU is idle or only copies.
-- The wait is a symptom: another thread or process is slow. What it waits for would run beside those copies.
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
  optional   = { "serving.no_request.lost" },
  thresholds = { "min_share", "min_count" },

  symptom = "For {share:pct} of the time, the launching thread is blocked in the operating system while the GPU is idle or only copies data ({count:num} waits {per:text}).",
  cause   = "It waits for another thread or process, such as a data loader, a queue, a lock or a server.",
  fixes   = {
    { action  = "Record what the other threads do, with named waits and call stacks",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree --backtrace=dwarf -o report -- COMMAND",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Give that thread more lead time: prefetch, or use a longer queue" },
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

  saving = { confidence = 0.4, basis = "the launching thread does not have to wait" },

  tests = {
    { name = "a wait for another thread in each step",
      edges = { ["host.os_wait.lost"] = 3e7, ["host.os_wait.per_step"] = 0.2 },
      facts = { window = { device_time = 1e9 }, host = { os_wait = { per_step = 10, lost = 9e7, remedy = true } } },
      expect = { share = 0.09, count = 10 },
      saving = { claims = 9e7, confidence = 0.4 } },
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
