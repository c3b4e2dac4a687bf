-- Collectives of Python objects: pickled, sent as bytes with a size before them, unpickled; each waits for the GPU.
return {
  id        = "comm/object-collectives",
  title     = "Send tensors instead of Python objects",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 76,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-C6", "K-J7" },

  needs_loop = true,
  loss       = "ranges.object_collective",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "Collectives send Python objects in the loop ({count:count} {per:text}). The GPU waits {share:pct} of the time for that.",
  cause   = "Objects are pickled and copied to the GPU and back, and the host waits for the size of each one.",
  fixes   = {
    { action  = "Put the values into a tensor and reduce that",
      snippet = [[values = torch.stack([loss.detach(), correct])   # both are on the GPU already: no wait
dist.all_reduce(values)]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Do it every N steps" },
  },
  false_positives = "Object collectives that run once per epoch.",
  references = { "nccl/collectives" },

  saving = { confidence = 0.65, basis = "no Python objects are sent in the loop" },

  tests = {
    { name = "metrics are gathered as objects",
      edges = { ["ranges.object_collective.lost"] = 2e7, ["ranges.object_collective.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, ranges = { object_collective = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: beside the GPU's work",
      facts = { window = { device_time = 1e9 }, ranges = { object_collective = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, ranges = { object_collective = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no objects are sent in the loop",
      facts = { window = { device_time = 1e9 }, ranges = { object_collective = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
