-- Copies from GPU to GPU that nothing runs beside on the GPU.
return {
  id        = "transfer/exposed-peer-copies",
  title     = "Overlap copies between GPUs with compute",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 59,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates" },
  knowledge = { "K-J1", "K-H9" },

  needs_loop = true,
  loss       = "copy.peer",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "Copies between GPUs run alone for {share:pct} of the time: {count:count} {per:text}.",
  cause   = "The next kernel waits for the transfer: the copies are in line with the kernels.",
  fixes   = {
    { action  = "Copy on a separate stream, in pieces",
      snippet = [[with torch.cuda.stream(copy_stream):
    y = x.to("cuda:1", non_blocking=True)]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Split the batch into micro-batches, so that one is copied while the other computes" },
  },
  false_positives = "A copy whose result is needed at once.",
  references = { "cuda-programming/streams", "cuda-best-practices/overlap" },

  saving = { confidence = 0.5, basis = "the copies overlap with kernels" },

  tests = {
    { name = "activations are handed on in line",
      edges = { ["copy.peer.lost"] = 2e7, ["copy.peer.per_step"] = 1 },
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
