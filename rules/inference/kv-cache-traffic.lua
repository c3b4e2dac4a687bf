-- Kernels that write, gather, copy or swap the key-value cache: their work is bytes only. How much could be won depends
-- on the model, so this only informs.
return {
  id        = "inference/kv-cache-traffic",
  title     = "Reduce key-value cache traffic",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-H8", "K-C5" },

  measure        = "family.kv_cache",
  not_applicable = "no kernels move the key-value cache",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Kernels that write or move the key-value cache take {share:pct} of the GPU time: {count:count} {per:text}.",
  cause   = "The cache is reshaped, gathered or swapped, instead of being read in place by attention.",
  fixes   = {
    { action = "Use paged attention that reads blocks in place (FlashInfer, FlashAttention with paging)" },
    { action = "Give the cache more memory, so that blocks are not swapped or recomputed" },
    { action  = "Store the cache in FP8, which halves the bytes",
      snippet = "vllm serve model --kv-cache-dtype fp8",
      language = "bash", ["for"] = { "vllm", "sglang" } },
  },
  false_positives = "Very long prompts, whose cache must be written once.",
  references = { "nvidia/gpu-background" },

  tests = {
    { name = "the cache is gathered in each layer",
      facts = { family = { kv_cache = { per_step = 20, share = 0.3 } } },
      expect = { share = 0.3, count = 20 } },
    { name = "near miss: new keys and values are written",
      facts = { family = { kv_cache = { per_step = 20, share = 0.025 } } },
      expect = "silent" },
    { name = "near miss: one kernel a step",
      facts = { family = { kv_cache = { per_step = 1, share = 0.3 } } },
      expect = "silent" },
    { name = "there is no cache",
      facts = { family = { kv_cache = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
