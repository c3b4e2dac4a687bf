-- A stream runs a function on the host (cudaLaunchHostFunc, cudaStreamAddCallback), and nothing behind it starts before the
-- function returns. Profilers record the call that queues it, but not when it runs: the idle time between the work before it and the
-- work behind it, which was launched long before, shows it.
return {
  id        = "sync/host-function",
  title     = "Keep functions that run on the host out of the stream that computes",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 62,
  explains  = { "sync/host-busy-wait" },
  knowledge = { "K-G5" },

  loss           = "sync.host_function",
  not_applicable = "no stream waits for a function on the host",
  evidence       = { count = "per_step" },
  thresholds     = { "min_share" },

  symptom = "A stream waits for a function that it runs on the host (cudaLaunchHostFunc) {count:count} times {per:text}. Meanwhile, the GPU is idle for {share:pct} of the time.",
  cause   = "Work queued after such a function starts only when it has returned. One thread of the CUDA driver runs all of them, one after the other.",
  fixes   = {
    { action  = "Where the next batch or frame does not need the function's result, queue it on a separate stream behind an event",
      snippet = [[cudaEventRecord(copied, stream);
cudaStreamWaitEvent(second, copied, 0);
cudaLaunchHostFunc(second, consume, frame);   // `stream` goes on with the next frame]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Compute in a kernel what the function computes, so that the data need not leave the GPU" },
    { action = "Let the function only wake another thread, which does the work: functions of all streams share one thread of the driver" },
  },
  false_positives = "The capture shows only that a function was queued before the wait. The stream may also wait for work that was not recorded.",
  references = { "cuda-runtime/sync-behavior", "cuda-programming/streams" },

  saving = { confidence = 0.5, basis = "the work behind the functions need not wait for them" },

  tests = {
    { name = "a frame whose stream filters on the host",
      edges = { ["sync.host_function.lost"] = 3e7 },
      facts = { window = { device_time = 1e9 }, sync = { host_function = { per_step = 1, lost = 3e8, remedy = true } } },
      expect = { share = 0.3, count = 1 }, saving = { claims = 3e8, confidence = 0.5 } },
    { name = "near miss: short functions that release buffers",
      facts = { window = { device_time = 1e9 }, sync = { host_function = { per_step = 4, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "no functions", facts = { window = { device_time = 1e9 }, sync = { host_function = { per_step = 0, lost = 0 } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
