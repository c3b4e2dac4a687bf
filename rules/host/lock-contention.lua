-- The launching thread waits for a lock that another thread holds: inside gaps of the GPU, or before code that then comes too late.
return {
  id        = "host/lock-contention",
  title     = "Keep the launching thread from waiting for locks",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 72,
  explains  = { "host/cpu-bound", "launch/host-op-overhead" },
  knowledge = { "K-G5", "K-G2" },
  effort    = "code",

  loss           = "host.lock",
  not_applicable = "no wait for a lock left a GPU idle",
  evidence       = { "count", time = "lost.time" },
  thresholds     = { "min_share", "min_count" },

  symptom = "For {share:pct} of the time, the GPU is idle because its launching thread waits for locks: {count:count} waits, each with {mean:time} of idle time on average.",
  cause   = "Another thread of the process holds a lock that the launching thread needs, such as Python's global interpreter lock (GIL), or a lock of an allocator, a queue or the CUDA driver.",
  fixes   = {
    { action = "Move the other thread's work into its own process: Python threads share one interpreter lock",
      snippet = "loader = DataLoader(dataset, num_workers=8, persistent_workers=True)   # processes, not threads", language = "python", ["for"] = { "pytorch" } },
    { action = "Let one thread per process make all CUDA calls, and hand it work through a queue" },
    { action = "Find the holder: record call stacks and thread states, and look at the other threads during these waits",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree --cpuctxsw=process-tree \\\n" ..
                "    --osrt-threshold=1000 -o locks -- COMMAND   # for a Python program, add --python-sampling=true",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "In C++, hold locks for a shorter time: no allocation, file access or CUDA call inside a critical section", ["for"] = { "c++" } },
  },
  false_positives = "A thread that waits on a lock because it has nothing to do.",
  references = { "nsys/pytorch", "pytorch/dataloader-workers" },

  detect = function(f, t, e)
    e.mean = share(f.host.lock.lost.time, f.host.lock.count)
    return e
  end,

  saving = { confidence = 0.6, basis = "the launching thread does not wait for locks" },

  tests = {
    { name = "200 waits for a lock leave the GPU idle for a quarter of the time",
      edges = { ["host.lock.count"] = 5, ["host.lock.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, host = { lock = { count = 200, lost = 2.5e8, remedy = true } } },
      expect = { share = 0.25, count = 200, mean = 1.25e6 },
      saving = { claims = 2.5e8 } },
    { name = "near miss: many waits, hardly any idle time",
      facts = { window = { device_time = 1e9 }, host = { lock = { count = 900, lost = 8e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one wait at a barrier",
      facts = { window = { device_time = 1e9 }, host = { lock = { count = 1, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no lock waits",
      facts = { window = { device_time = 1e9 }, host = { lock = { count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "no calls of the operating system were recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
