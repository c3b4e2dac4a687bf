-- The launching thread sends or receives over a socket while the GPU waits: metrics servers, key-value stores, remote
-- data, parameter servers.
return {
  id        = "host/network-in-loop",
  title     = "Move network calls out of the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 70,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-G2", "K-H4" },

  needs_loop = true,
  loss       = "host.network",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "The launching thread calls the network {count:count} times {per:text}. The GPU waits {share:pct} of the time for that.",
  cause   = "The thread waits for the answer to a request before it queues the next work.",
  fixes   = {
    { action = "Send from a background thread, and in batches" },
    { action = "Ask early and read the answer late: ask for what the next step needs while the GPU works on this one" },
    { action = "Fetch remote data in the loader's workers, a few batches ahead", ["for"] = { "training" } },
  },
  false_positives = "Ranks that meet at the start of the window.",
  references = { "pytorch/tuning-guide" },

  saving = { confidence = 0.65, basis = "no network calls are made in the loop" },

  tests = {
    { name = "a metrics server in each step",
      edges = { ["host.network.lost"] = 2e7, ["host.network.per_step"] = 0.15 },
      facts = { window = { device_time = 1e9 }, host = { network = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: a fast local call",
      facts = { window = { device_time = 1e9 }, host = { network = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, host = { network = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no network calls in gaps",
      facts = { window = { device_time = 1e9 }, host = { network = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
