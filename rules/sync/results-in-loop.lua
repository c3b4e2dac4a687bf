-- A script that applies a model batch after batch: upload, compute, fetch the results, handle them, next batch. Loader workers
-- have the next batch ready all along, but the host queues it only when it is done with these results. A loop whose next input is
-- computed from the results on the host needs them; there, no one else loads the input.
return {
  id        = "sync/results-in-loop",
  title     = "Read the results of a step while the GPU computes the next one",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  topic     = "waits",
  effort    = "code",
  priority  = 79,
  needs_loop = true,
  explains  = { "transfer/blocking-copy", "transfer/pageable-copy", "transfer/exposed-copy", "transfer/copy-dominates", "host/cpu-bound",
                "sync/device-sync-in-loop", "sync/host-busy-wait", "launch/host-op-overhead" },
  knowledge = { "K-H12", "K-C6" },

  loss           = "sync.results",
  not_applicable = "the host fetches no results right before the input of the next step, or nobody loads that input meanwhile",
  evidence       = { "count" },
  needs          = { "sync.results.bytes", "sync.results.per_step" },
  optional       = { "sync.results.remedy" },
  thresholds     = { "min_share" },

  symptom = "Before the host queues the next step, it waits for the results of this one ({bytes:bytes} per step) and handles them. Meanwhile, the GPU computes nothing for {share:pct} of the time.",
  cause   = "The host queues the next step too late. That step does not need these results: other threads load its input.",
  fixes   = {
    { action  = "Copy the results to pinned memory, queue the next step, and only then read them",
      snippet = [[results = None
for inputs, labels in loader:
    scores = model(inputs.to(device, non_blocking=True))
    if results is not None:
        copied.synchronize(); process(results)        # those of the step before
    results = torch.empty(scores.shape, dtype=scores.dtype, pin_memory=True).copy_(scores, non_blocking=True)
    copied = torch.cuda.Event(); copied.record()]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Copy the results to pinned memory, queue the next step, and only then read them",
      snippet = [[cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, stream);        // to memory of cudaMallocHost
cudaEventRecord(copied, stream);
// queue the next step, which copies to another buffer; then:
cudaEventSynchronize(copied);                     // and read what is in host]],
      language = "cpp", ["for"] = { "c++" } },
    { action  = "Hand the results to another thread, which handles them" },
  },
  false_positives = "A loop that stops, or chooses its next input, by these results.",
  references = { "cuda-best-practices/overlap", "cuda-runtime/sync-behavior" },

  detect = function(f, _, e)
    e.bytes = f.sync.results.bytes / math.max(1, e.count) * f.sync.results.per_step
    return e
  end,

  saving = { confidence = 0.6, basis = "the host queues the next step before it handles the results of this one" },

  tests = {
    { name = "a script that scores batch after batch and handles the scores in between",
      edges = { ["sync.results.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 },
                sync = { results = { count = 80, per_step = 1, bytes = 5.12e6, lost = 3.5e8, remedy = true } } },
      expect = { share = 0.35, bytes = 64000 }, saving = { claims = 3.5e8, confidence = 0.6 } },
    { name = "near miss: the results are handled in no time",
      facts = { window = { device_time = 1e9 },
                sync = { results = { count = 80, per_step = 1, bytes = 5.12e6, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "no results are fetched", facts = { window = { device_time = 1e9 }, sync = { results = { count = 0, per_step = 0, bytes = 0 } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
