-- Copies from GPU to GPU that nothing runs beside on the GPU.
return {
  id        = "transfer/exposed-peer-copies",
  title     = "Copy between GPUs beside compute",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "code",
  priority  = 59,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates" },
  knowledge = { "K-J1", "K-H9" },

  needs      = { "window.device_time", "copy.peer.per_step", "copy.peer.lost", "copy.peer.remedy" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_count" },

  symptom = "{count:count} copies a step from GPU to GPU run alone for {share:pct} of the GPU time.",
  cause   = "The copies are in line with the kernels: the next kernel waits for the transfer.",
  fixes   = {
    { action  = "Copy on a stream of its own, in pieces",
      snippet = [[with torch.cuda.stream(copy_stream):
    y = x.to("cuda:1", non_blocking=True)]],
      language = "python" },
    { action = "Split the batch into micro-batches, so that one is copied while the other computes" },
  },
  false_positives = "A copy whose result is needed at once.",
  references = { "cuda-programming/streams", "cuda-best-practices/overlap" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.copy.peer.per_step > 0, "there is none of it"
  end,

  detect = function(f, t)
    local lost = share(f.copy.peer.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.copy.peer.per_step, t.min_count) then return nil end
    return { share = lost, count = f.copy.peer.per_step }
  end,

  saving = function(f)
    return { claims = f.copy.peer.lost, remedy = f.copy.peer.remedy, confidence = 0.5, basis = "the copies run beside kernels" }
  end,

  tests = {
    { name = "activations are handed on in line",
      facts = { window = { device_time = 1e9 }, copy = { peer = { per_step = 10, lost = 9e7, remedy = true } } },
      expect = { share = 0.09, count = 10 },
      saving = { claims = 9e7, confidence = 0.5 } },
    { name = "near miss: hidden behind kernels",
      facts = { window = { device_time = 1e9 }, copy = { peer = { per_step = 10, lost = 7.5e6, remedy = true } } },
      expect = "silent" },
    { name = "no copies between GPUs",
      facts = { window = { device_time = 1e9 }, copy = { peer = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
