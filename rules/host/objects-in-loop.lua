-- Streams and events that are created and destroyed in the loop: each call takes a lock in the driver, and destroying a
-- stream may wait for its work.
return {
  id        = "host/objects-in-loop",
  title     = "Create streams and events once",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "code",
  priority  = 72,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-H14" },

  needs      = { "window.device_time", "calls.objects.per_step", "calls.objects.lost", "calls.objects.remedy" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_count" },

  symptom = "{count:count} calls a step create or destroy streams and events while the GPU waits: {share:pct} of the GPU time.",
  cause   = "Objects of the driver are made for each piece of work.",
  fixes   = {
    { action  = "Create them at the start and use them again",
      snippet = [[cudaStream_t streams[4];
for (auto& s : streams) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);      // before the loop]],
      language = "cpp" },
    { action = "Create events without timing (cudaEventDisableTiming) where none is read" },
  },
  false_positives = "Libraries that pool objects and grow the pool in the first steps.",
  references = { "cuda-programming/streams" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.calls.objects.per_step > 0, "there is none of it"
  end,

  detect = function(f, t)
    local lost = share(f.calls.objects.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.calls.objects.per_step, t.min_count) then return nil end
    return { share = lost, count = f.calls.objects.per_step }
  end,

  saving = function(f)
    return { claims = f.calls.objects.lost, remedy = f.calls.objects.remedy, confidence = 0.65, basis = "the host does not do this in the loop" }
  end,

  tests = {
    { name = "a stream for each task",
      facts = { window = { device_time = 1e9 }, calls = { objects = { per_step = 20, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 20 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: pooled events",
      facts = { window = { device_time = 1e9 }, calls = { objects = { per_step = 20, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one a step",
      facts = { window = { device_time = 1e9 }, calls = { objects = { per_step = 1, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "none are created in the loop",
      facts = { window = { device_time = 1e9 }, calls = { objects = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
