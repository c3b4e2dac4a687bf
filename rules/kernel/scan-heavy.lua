-- Scans (cumulative sums, products) go along a dimension in order; PyTorch parallelises over rows, so that few long rows
-- leave most of the GPU idle. How much could be won depends on the model, so this only informs.
return {
  id        = "kernel/scan-heavy",
  title     = "Avoid long cumulative sums",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-C5", "K-F2" },

  measure        = "family.scan",
  not_applicable = "no cumulative sums ran",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Cumulative sums take {share:pct} of the compute time: {count:count} kernels {per:text}.",
  cause   = "A scan along one long dimension uses few blocks, and each value depends on the one before.",
  fixes   = {
    { action  = "Reshape so that many rows are scanned at once, and add the offsets of the blocks",
      snippet = [[part = x.view(-1, 1024).cumsum(-1)
offset = part[:, -1].cumsum(0).roll(1); offset[0] = 0
out = (part + offset[:, None]).view(-1)]],
      language = "python", ["for"] = { "python" } },
    { action = "Use a fused scan kernel (Mamba, associative_scan with torch.compile)", ["for"] = { "pytorch" } },
    { action = "In CUDA C++, use the scan of CUB instead of your own",
      snippet = "cub::DeviceScan::InclusiveSum(workspace, bytes, in, out, count, stream);", language = "cpp", ["for"] = { "c++" } },
  },
  false_positives = "State-space models with fused scan kernels.",
  references = { "pytorch/compile" },

  tests = {
    { name = "two scans over a long sequence",
      edges = { ["family.scan.per_step"] = 2, ["family.scan.share"] = 0.08 },
      facts = { family = { scan = { per_step = 20, share = 0.3 } } },
      expect = { share = 0.3, count = 20 } },
    { name = "near miss: a short scan",
      facts = { family = { scan = { per_step = 20, share = 0.02 } } },
      expect = "silent" },
    { name = "near miss: one a step",
      facts = { family = { scan = { per_step = 1, share = 0.3 } } },
      expect = "silent" },
    { name = "nothing is scanned",
      facts = { family = { scan = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
