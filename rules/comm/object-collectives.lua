-- Collectives of Python objects: pickled, sent as bytes with a size before them, unpickled; each waits for the GPU.
return {
  id        = "comm/object-collectives",
  title     = "Send tensors instead of Python objects",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "code",
  priority  = 76,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-C6", "K-J7" },

  needs      = { "window.device_time", "ranges.object_collective.per_step", "ranges.object_collective.lost",
                 "ranges.object_collective.remedy" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_count" },

  symptom = "{count:count} collectives a step send Python objects while the GPU waits: {share:pct} of the GPU time.",
  cause   = "Objects are pickled and copied to the GPU and back, with a wait for each size.",
  fixes   = {
    { action  = "Reduce a tensor of the values instead",
      snippet = [[values = torch.stack([loss.detach(), correct])   # both are on the GPU already: no wait
dist.all_reduce(values)]],
      language = "python" },
    { action = "Do it every N steps" },
  },
  false_positives = "Once an epoch.",
  references = { "nccl/collectives" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.ranges.object_collective.per_step > 0, "there is none of it"
  end,

  detect = function(f, t)
    local lost = share(f.ranges.object_collective.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.ranges.object_collective.per_step, t.min_count) then return nil end
    return { share = lost, count = f.ranges.object_collective.per_step }
  end,

  saving = function(f)
    return { claims = f.ranges.object_collective.lost, remedy = f.ranges.object_collective.remedy, confidence = 0.65, basis = "the host does not do this in the loop" }
  end,

  tests = {
    { name = "metrics are gathered as objects",
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
