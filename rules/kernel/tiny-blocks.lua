-- An SM holds at most 16 to 32 blocks, whatever their size: with one warp each, most of its slots for warps stay empty.
-- That matters for kernels that wait for memory, and not for others.
return {
  id        = "kernel/tiny-blocks",
  title     = "Use more than one warp per block",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-D3", "K-F5" },

  measure        = "kernel.tiny_block",
  applies        = "share",
  not_applicable = "no kernel has so few threads per block",
  evidence       = { "share" },
  thresholds     = { "min_share" },

  symptom = "Kernels with at most 32 threads per block take {share:pct} of the compute time.",
  cause   = "One warp per block leaves half or more of an SM's warp slots empty.",
  fixes   = {
    { action = "Let a block of 128 or 256 threads do the work of several" },
    { action  = "For Triton kernels, raise num_warps where the tile allows",
      snippet = "kernel[grid](x, y, n, BLOCK=1024, num_warps=4)",
      language = "python", ["for"] = { "python" } },
  },
  false_positives = "Kernels that need no more warps: compute-bound, or with much work in flight per thread. Look at the stalls first.",
  references = { "cuda-best-practices/occupancy" },

  tests = {
    { name = "half of the time",
      edges = { ["kernel.tiny_block.share"] = 0.1 },
      facts = { kernel = { tiny_block = { share = 0.5 } } },
      expect = { share = 0.5 } },
    { name = "near miss: a small part",
      facts = { kernel = { tiny_block = { share = 0.03 } } },
      expect = "silent" },
    { name = "none",
      facts = { kernel = { tiny_block = { share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels",
      facts = {},
      expect = "cannot_tell" },
  },
}
