-- Streams and events that are created and destroyed in the loop: each call takes a lock in the driver, and destroying a
-- stream may wait for its work.
return {
  id        = "host/objects-in-loop",
  title     = "Create streams and events once",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 72,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-H14" },

  needs_loop = true,
  loss       = "calls.objects",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "The loop creates or destroys streams and events ({count:count} calls {per:text}). The GPU waits {share:pct} of the time for that.",
  cause   = "The program creates streams or events for each piece of work.",
  fixes   = {
    { action  = "Create them at the start and reuse them",
      snippet = [[cudaStream_t streams[4];
for (auto& s : streams) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);      // before the loop]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Create events without timing (cudaEventDisableTiming) unless their times are read", ["for"] = { "c++" } },
    { action  = "Create streams and events once, before the loop",
      snippet = "copies = torch.cuda.Stream()\ndone = torch.cuda.Event()     # both before the loop", language = "python", ["for"] = { "pytorch" } },
    { action = "Create streams, events and handles at the start, and use them again" },
  },
  false_positives = "Libraries that pool objects and grow the pool in the first steps.",
  references = { "cuda-programming/streams" },

  saving = { confidence = 0.65, basis = "no streams or events are created in the loop" },

  tests = {
    { name = "a stream for each task",
      edges = { ["calls.objects.lost"] = 2e7, ["calls.objects.per_step"] = 2 },
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
