-- The loop maps and unmaps memory for each batch. The kernel's work for that (page tables, the address-space lock that
-- all threads of the process share) holds the launching thread up, and grows with the size of the buffers.
return {
  id        = "input/mmap-churn",
  title     = "Reuse buffers instead of mapping and unmapping memory in the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 73,
  explains  = { "input/starved", "input/no-workers", "host/cpu-bound", "step/jitter" },
  knowledge = { "K-H19" },

  loss           = "input.map",
  applies        = "time",
  not_applicable = "the launching thread maps no memory while the GPU is idle",
  evidence       = { "time" },
  thresholds     = { "min_share" },

  symptom = "The GPU is idle for {share:pct} of the time while the launching thread maps or unmaps memory.",
  cause   = "The loop gets fresh memory from the operating system each time and gives it back.",
  fixes   = {
    { action  = "Keep two or three buffers for the whole run: fill the next one while the current one is in use, then swap",
      snippet = [[buffers = [torch.empty(shape, pin_memory=True) for _ in range(3)]
for i, sample in enumerate(source):
    buffers[i % 3].copy_(sample)      # no new memory; its last copy to the GPU must be over: keep an event per buffer]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Let the C library keep large blocks instead of returning each to the system",
      snippet = "export MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184   # or preload jemalloc", language = "bash" },
    { action = "With memory-mapped files, map the next batch early and on another thread, and unmap the last one late" },
  },
  false_positives = "Mappings in the first steps only, while buffers and thread stacks are set up.",
  references = { "pytorch/tuning-guide" },

  saving = { confidence = 0.7, basis = "the GPU is never idle during map and unmap calls of the launching thread" },

  tests = {
    { name = "a twentieth of the run goes into mapping",
      edges = { ["input.map.lost"] = 1e7 },
      facts = { window = { device_time = 1e9 }, input = { map = { time = 5e7, lost = 5e7, remedy = true } } },
      expect = { share = 0.05, time = 5e7 }, saving = { claims = 5e7 } },
    { name = "near miss: a few short maps",
      facts = { window = { device_time = 1e9 }, input = { map = { time = 4e5, lost = 4e5, remedy = true } } },
      expect = "silent" },
    { name = "no maps in gaps",
      facts = { window = { device_time = 1e9 }, input = { map = { time = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "calls of the operating system were not recorded", facts = { window = { device_time = 1e9 } },
      expect = "cannot_tell" },
  },
}
