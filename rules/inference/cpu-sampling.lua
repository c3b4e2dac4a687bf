-- The GPU waits while tokens are chosen: logits travel to the host, and the CPU picks.
return {
  id        = "inference/cpu-sampling",
  title     = "Sample tokens on the GPU",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  own_steps = true,
  priority  = 77,
  explains  = { "host/cpu-bound", "sync/item-in-loop", "sync/host-busy-wait", "transfer/pageable-copy", "transfer/blocking-copy",
                "transfer/exposed-copy" },
  knowledge = { "K-E1", "K-N6" },

  needs      = { "run.serves", "window.device_time", "serving.sampling.lost", "serving.sampling.remedy" },
  thresholds = { "min_share" },

  symptom = "The GPU computes nothing for {share:pct} of the time while the host receives logits or samples tokens.",
  cause   = "Logits are copied to the host and sampled there, so each step ends with a wait for the CPU.",
  fixes   = {
    { action = "Sample on the GPU and copy only the token IDs back" },
    { action = "Start the next step before the IDs have arrived: asynchronous output processing" },
    { action = "Remove per-token log probabilities and logits processors that run in Python" },
  },
  false_positives = "Grammar-constrained decoding whose masks need the CPU.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    if not f.run.serves then return false, "the run shows no model server" end
    return f.serving.sampling.lost.time > 0, "the GPU never waits while tokens are sampled"
  end,

  detect = function(f, t)
    local lost = share(f.serving.sampling.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    return { share = lost }
  end,

  saving = { claims = "serving.sampling.lost", remedy = "serving.sampling.remedy", confidence = 0.6,
             basis = "the step continues while tokens are sampled" },

  tests = {
    { name = "a tenth of the time",
      edges = { ["serving.sampling.lost"] = 3e7 },
      facts = { run = { serves = true }, window = { device_time = 1e9 }, serving = { sampling = { lost = 1e8, remedy = true } } },
      expect = { share = 0.1 }, saving = { claims = 1e8, confidence = 0.6 } },
    { name = "near miss: a percent",
      facts = { run = { serves = true }, window = { device_time = 1e9 }, serving = { sampling = { lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "tokens are chosen on the GPU",
      facts = { run = { serves = true }, window = { device_time = 1e9 }, serving = { sampling = { lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "no server", facts = { run = { serves = true }, window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
