-- Python's collector, or an emptied cache, stops the launching thread while the GPU runs dry; with several ranks each
-- stops the others in turn.
return {
  id        = "step/garbage-collection",
  title     = "Collect garbage between steps, on all ranks together",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 70,
  explains  = { "step/outlier", "step/jitter", "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-G2", "K-H5" },

  needs_loop     = true,
  loss           = "phase.garbage_collection",
  not_applicable = "no GPU gap falls into a garbage-collection range",
  evidence       = { "count" },
  thresholds     = { "min_share", "min_count" },

  symptom = "The GPU waits {share:pct} of the time for garbage collection.",
  cause   = "The collector walks all objects of the process whenever enough new ones exist. Models have millions of them.",
  fixes   = {
    { action  = "Turn automatic collection off, and collect at chosen steps on all ranks",
      snippet = [[import gc
gc.disable(); gc.freeze()           # after the model is built
for step, batch in enumerate(loader):
    train(batch)
    if step % 1000 == 0:
        gc.collect()]],
      language = "python", ["for"] = { "python" } },
    { action = "Do not call gc.collect() or torch.cuda.empty_cache() in every step: once in a thousand steps is enough", ["for"] = { "pytorch" } },
  },
  false_positives = "Programs that create reference cycles around large tensors. Collect more often then.",
  references = { "pytorch/memory-management" },

  saving = { confidence = 0.6, basis = "garbage collection overlaps with GPU work" },

  tests = {
    { name = "a collection every few steps",
      edges = { ["phase.garbage_collection.count"] = 2, ["phase.garbage_collection.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, phase = { garbage_collection = { count = 20, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 20 },
      saving = { claims = 6e7, confidence = 0.6 } },
    { name = "near miss: short collections",
      facts = { window = { device_time = 1e9 }, phase = { garbage_collection = { count = 20, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one collection",
      facts = { window = { device_time = 1e9 }, phase = { garbage_collection = { count = 1, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no collection was recorded",
      facts = { window = { device_time = 1e9 }, phase = { garbage_collection = { count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
