-- Writing metrics, images or progress bars on the training thread while the GPU has nothing queued.
return {
  id        = "step/logging-stall",
  title     = "Log less often, and without waiting for the GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 69,
  explains  = { "step/outlier", "step/jitter", "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-C6" },

  needs_loop     = true,
  loss           = "phase.logging",
  not_applicable = "no GPU gap falls into a logging range",
  evidence       = { "count" },
  thresholds     = { "min_share", "min_count" },

  symptom = "The GPU waits {share:pct} of the time for logging.",
  cause   = "The launching thread reads values back, formats them and sends them.",
  fixes   = {
    { action  = "Log every N steps: copy the value to pinned memory, and read it some steps later",
      snippet = [[if step % 100 == 0:
    pinned.copy_(loss.detach(), non_blocking=True); copied.record()   # once: torch.empty((), pin_memory=True), torch.cuda.Event()
elif step % 100 == 10:
    copied.synchronize(); log(pinned.item())      # done long ago: the host does not wait]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Hand the values to a thread or process that writes them" },
    { action = "Do not log images, histograms or gradients in the loop" },
  },
  false_positives = "A loop whose purpose is to display something.",
  references = { "pytorch/tuning-guide" },

  saving = { confidence = 0.6, basis = "logging overlaps with GPU work" },

  tests = {
    { name = "a metrics server is asked in each step",
      edges = { ["phase.logging.count"] = 2, ["phase.logging.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, phase = { logging = { count = 20, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 20 },
      saving = { claims = 6e7, confidence = 0.6 } },
    { name = "near miss: a cheap logger",
      facts = { window = { device_time = 1e9 }, phase = { logging = { count = 20, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one message",
      facts = { window = { device_time = 1e9 }, phase = { logging = { count = 1, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no logging",
      facts = { window = { device_time = 1e9 }, phase = { logging = { count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
