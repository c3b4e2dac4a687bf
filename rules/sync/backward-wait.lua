-- Waits of the host inside the backward pass: hooks that print or check gradients, memory offloading, custom functions
-- that read a value.
return {
  id        = "sync/backward-wait",
  title     = "Remove waits for the GPU from backward hooks",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  topic     = "waits",
  effort    = "code",
  priority  = 62,
  explains  = { "sync/item-in-loop", "sync/device-sync-in-loop", "sync/host-busy-wait", "step/backward-gaps", "transfer/exposed-copy" },
  knowledge = { "K-H12", "K-A5" },

  needs_loop = true,
  loss       = "sync.backward",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "In the backward pass, the host waits for the GPU {count:count} times {per:text}. Around these waits, the GPU computes nothing for {share:pct} of the time.",
  cause   = "A hook or a custom function reads a GPU value while gradients are computed.",
  fixes   = {
    { action  = "Keep gradient statistics on the GPU",
      snippet = [[def hook(grad):
    norms[name] = grad.norm()          # a tensor; no .item() here]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Remove hooks after debugging; offload with asynchronous copies into pinned memory" },
  },
  false_positives = "Frameworks that offload gradients on purpose.",
  references = { "cuda-runtime/sync-behavior" },

  saving = { confidence = 0.6, basis = "the host does not wait inside the backward pass" },

  tests = {
    { name = "a hook that reads each gradient",
      edges = { ["sync.backward.lost"] = 5e6, ["sync.backward.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, sync = { backward = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.6 } },
    { name = "near miss: behind a full queue",
      facts = { window = { device_time = 1e9 }, sync = { backward = { per_step = 10, lost = 4e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, sync = { backward = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "the backward pass has no waits",
      facts = { window = { device_time = 1e9 }, sync = { backward = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
