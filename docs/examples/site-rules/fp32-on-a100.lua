-- The A100 nodes are short. FP32 products without tensor cores run about as well on the older nodes.
return {
  id        = "site/fp32-on-a100",
  title     = "Use tensor cores on the A100 nodes, or the older nodes",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",

  needs      = { "hw.name", "precision.fp32.share" },
  thresholds = { "min_share" },

  symptom = "{share:pct} of the compute time on {gpu:text} is FP32 matrix work without tensor cores.",
  cause   = "Neither TF32 nor mixed precision is switched on.",
  fixes   = {
    { action = "Allow TF32", snippet = 'torch.set_float32_matmul_precision("high")', language = "python" },
    { action = "If full FP32 is needed, use the older nodes", snippet = "#SBATCH --partition=v100", language = "bash" },
  },
  false_positives = "Work that needs the memory of the A100.",
  references = { "pytorch/tf32" },

  applies = function(f) return matches(f.hw.name, "*A100*"), "this is no A100" end,

  detect = function(f, t)
    if not at_least(f.precision.fp32.share, t.min_share) then return nil end
    return { share = f.precision.fp32.share, gpu = f.hw.name }
  end,

  tests = {
    { name = "all products in FP32",
      facts = { hw = { name = "NVIDIA A100-SXM4-40GB" }, precision = { fp32 = { share = 0.7 } } }, expect = { share = 0.7 } },
    { name = "near miss: a few", facts = { hw = { name = "NVIDIA A100-SXM4-40GB" }, precision = { fp32 = { share = 0.1 } } },
      expect = "silent" },
    { name = "another GPU", facts = { hw = { name = "Tesla V100-SXM2-16GB" }, precision = { fp32 = { share = 0.7 } } },
      expect = "not_applicable" },
  },
}
