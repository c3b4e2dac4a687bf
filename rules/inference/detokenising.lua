-- Detokenization on the thread that launches the next step: the GPU waits for text that nobody needs for it.
return {
  id        = "inference/detokenising",
  title     = "Detokenize on another thread",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  own_steps = true,
  priority  = 70,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-G2", "K-H4" },

  needs_loop = true,
  loss       = "ranges.detokenize",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "The launching thread turns tokens into text {count:count} times {per:text}. The GPU waits {share:pct} of the time for that.",
  cause   = "The text is made between two decode steps, on the same thread.",
  fixes   = {
    { action = "Hand the token IDs to another thread or process, and launch the next step first" },
    { action = "Detokenize in blocks of several tokens" },
  },
  false_positives = "The end of a request.",
  references = { "nsys/pytorch" },

  saving = { confidence = 0.65, basis = "the launching thread does not detokenize" },

  tests = {
    { name = "after each token",
      edges = { ["ranges.detokenize.lost"] = 2e7, ["ranges.detokenize.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, ranges = { detokenize = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: beside the GPU's work",
      facts = { window = { device_time = 1e9 }, ranges = { detokenize = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, ranges = { detokenize = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "tokens are not turned into text here",
      facts = { window = { device_time = 1e9 }, ranges = { detokenize = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
