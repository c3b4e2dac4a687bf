-- Gates, top-k, histograms, permutations: the kernels around a mixture of experts that only decide and move. How much
-- could be won depends on the model, so this only informs.
return {
  id        = "moe/routing-overhead",
  title     = "Route tokens to experts with fused kernels",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-H6", "K-C5" },

  measure        = "family.moe_routing",
  not_applicable = "no kernels route tokens to experts",
  evidence       = { "share", count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Routing tokens to experts takes {share:pct} of the compute time: {count:count} kernels {per:text}.",
  cause   = "Routing is a chain of small kernels in each layer: gate, top-k, count, sort and gather, and the same in reverse after the experts.",
  fixes   = {
    { action = "Use a fused routing and permutation (Megatron-Core --moe-permute-fusion, vLLM fused MoE, DeepEP)", ["for"] = { "pytorch" } },
    { action = "Choose experts for groups of tokens, or fewer experts per token" },
    { action = "Capture decode steps as CUDA graphs, so that short kernels follow each other without gaps" },
  },
  false_positives = "Very small experts, for which routing is the main work.",
  references = { "megatron/parallelism", "cuda-programming/graphs" },

  tests = {
    { name = "an unfused chain in each layer",
      edges = { ["family.moe_routing.per_step"] = 4, ["family.moe_routing.share"] = 0.08 },
      facts = { family = { moe_routing = { per_step = 40, share = 0.3 } } },
      expect = { share = 0.3, count = 40 } },
    { name = "near miss: fused routing",
      facts = { family = { moe_routing = { per_step = 40, share = 0.02 } } },
      expect = "silent" },
    { name = "near miss: few kernels",
      facts = { family = { moe_routing = { per_step = 2, share = 0.3 } } },
      expect = "silent" },
    { name = "there are no experts",
      facts = { family = { moe_routing = { per_step = 0, share = 0 } } },
      expect = "not_applicable" },
    { name = "no kernels were recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
