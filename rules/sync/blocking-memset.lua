-- Memset calls that return only when earlier work and the memset are done. The host queues nothing meanwhile, as with
-- a synchronous copy, though no data moves.
return {
  id        = "sync/blocking-memset",
  title     = "Clear memory asynchronously",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 70,
  explains  = { "sync/host-busy-wait", "host/cpu-bound", "transfer/exposed-copy" },
  knowledge = { "K-H12" },

  loss           = "sync.memset",
  not_applicable = "no memset blocks the host",
  evidence       = { "count" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Memsets block the host until they are done ({count:count} in the window). Meanwhile, the GPU computes nothing for {share:pct} of the time.",
  cause   = "A synchronous memset waits for earlier work, and the host launches nothing meanwhile.",
  fixes   = {
    { action  = "Use the asynchronous call on the stream of the kernels that need it",
      snippet = "cudaMemsetAsync(data, 0, bytes, stream);      // instead of cudaMemset(data, 0, bytes)", language = "cpp", ["for"] = { "c++" } },
    { action  = "Leave it out if the next kernel writes the whole buffer",
      snippet = "optimizer.zero_grad(set_to_none=True)         # PyTorch: the default since 2.0", language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Clear small buffers inside the kernel that uses them" },
  },
  false_positives = "Buffers that are cleared once, before the loop.",
  references = { "cuda-runtime/sync-behavior" },

  saving = { confidence = 0.75, basis = "the host does not wait for memsets" },

  tests = {
    { name = "a memset each iteration",
      edges = { ["sync.memset.count"] = 3, ["sync.memset.lost"] = 1e7 },
      facts = { window = { device_time = 1e9 }, sync = { memset = { count = 50, lost = 5e7, remedy = true } } },
      expect = { share = 0.05, count = 50 }, saving = { claims = 5e7, confidence = 0.75 } },
    { name = "near miss: they cost nothing",
      facts = { window = { device_time = 1e9 }, sync = { memset = { count = 50, lost = 2e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one, at the start",
      facts = { window = { device_time = 1e9 }, sync = { memset = { count = 1, lost = 5e7, remedy = true } } },
      expect = "silent" },
    { name = "no such memsets", facts = { window = { device_time = 1e9 }, sync = { memset = { count = 0 } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
