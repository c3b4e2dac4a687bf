-- Handles of other processes' device memory are opened or closed in the loop, as torch.multiprocessing does for each
-- CUDA tensor in a queue. Each maps memory anew.
return {
  id        = "memory/ipc-in-loop",
  title     = "Share memory between processes once",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 79,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-H8", "K-H14" },

  needs_loop = true,
  loss       = "calls.ipc",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "The loop opens or closes memory of other processes ({count:count} calls {per:text}). The GPU waits {share:pct} of the time for that.",
  cause   = "GPU memory is handed from process to process (CUDA IPC), and every receiver maps it again.",
  fixes   = {
    { action = "Share a few large buffers once, and send indices through the queue" },
    { action = "Send data through shared host memory, and upload it in the receiver" },
  },
  false_positives = "The short start-up of worker processes.",
  references = { "cuda/mps" },

  saving = { confidence = 0.65, basis = "no memory of other processes is mapped in the loop" },

  tests = {
    { name = "tensors go through a queue",
      edges = { ["calls.ipc.lost"] = 2e7, ["calls.ipc.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, calls = { ipc = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: cached handles",
      facts = { window = { device_time = 1e9 }, calls = { ipc = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, calls = { ipc = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no memory of other processes is opened in the loop",
      facts = { window = { device_time = 1e9 }, calls = { ipc = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
