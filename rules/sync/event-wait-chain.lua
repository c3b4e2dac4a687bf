-- Several streams are in use, but events make each wait for the other in turn, so that they never run side by side: the
-- cost of streams without their use.
return {
  id        = "sync/event-wait-chain",
  title     = "Remove event waits that keep streams from overlapping",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 60,
  explains  = { "kernel/low-concurrency" },
  knowledge = { "K-G5" },

  loss           = "sync.event_chain",
  not_applicable = "no streams take turns",
  evidence       = { "count", "streams" },
  thresholds     = { "min_share", "min_count", "min_streams" },

  symptom = "The {streams:count} streams take turns and never overlap: they wait for each other {count:count} times. Work that takes {share:pct} of the time could overlap.",
  cause   = "Events tie the streams together at each step, whether or not one needs the other's results.",
  fixes   = {
    { action  = "Record the event right after the work that is needed, and wait for it right before its use",
      snippet = [[cudaEventRecord(ready, a);                 // after the one kernel whose result b reads
independent<<<grid, block, 0, b>>>(...);   // does not need it: before the wait
cudaStreamWaitEvent(b, ready, 0);
dependent<<<grid, block, 0, b>>>(...);]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Launch independent branches to all streams first, and join them once at the end" },
    { action = "If each step does need the one before, use one stream without events; or capture the work as a CUDA graph, which keeps only the dependencies it needs" },
  },
  false_positives = "Work that depends on the other stream's results cannot overlap. A pipeline overlaps only with several batches in flight. Kernels that fill the GPU gain little from overlap.",
  references = { "cuda-programming/streams", "cuda-programming/graphs" },

  saving = { confidence = 0.4,
             basis = "the shorter streams overlap with the longest, if only the events enforce their order" },

  tests = {
    { name = "three streams in turn",
      edges = { ["sync.event_chain.count"] = 3, ["sync.event_chain.lost"] = 3e7, ["sync.event_chain.streams"] = 2 },
      facts = { window = { device_time = 1e9 }, sync = { event_chain = { count = 300, streams = 3, lost = 3e8,
                                                                         remedy = true } } },
      expect = { share = 0.3, count = 300, streams = 3 }, saving = { claims = 3e8, confidence = 0.4 } },
    { name = "near miss: the other streams have little to do",
      facts = { window = { device_time = 1e9 }, sync = { event_chain = { count = 300, streams = 3, lost = 5e6,
                                                                         remedy = true } } },
      expect = "silent" },
    { name = "near miss: a fork and a join",
      facts = { window = { device_time = 1e9 }, sync = { event_chain = { count = 2, streams = 2, lost = 3e8, remedy = true } } },
      expect = "silent" },
    { name = "one stream", facts = { window = { device_time = 1e9 }, sync = { event_chain = { count = 0 } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
