-- Kernels that write, gather, copy or swap the key-value cache: their work is bytes only. How much could be won depends
-- on the model, so this only informs.
return {
  id        = "inference/kv-cache-traffic",
  title     = "Move the key-value cache less",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-H8", "K-C5" },

  measure        = "family.kv_cache",
  not_applicable = "no such kernels ran",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "{share:pct} of the GPU time writes or moves the key-value cache, in {count:count} kernels a step.",
  cause   = "The cache is reshaped, gathered or swapped beside attention, instead of being read where it lies.",
  fixes   = {
    { action = "Use paged attention that reads blocks in place (FlashInfer, FlashAttention with paging)" },
    { action = "Give the cache more memory, so that blocks are not swapped or recomputed" },
    { action  = "Store the cache in FP8, which halves the bytes",
      snippet = "vllm serve model --kv-cache-dtype fp8",
      language = "bash" },
  },
  false_positives = "Very long prompts, whose cache has to be written once.",
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
