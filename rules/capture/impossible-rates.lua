-- Sizes of operators tell how much work their kernels do. Where that is more than the GPU can do in their time, the estimate
-- is wrong: another GPU, sparse weights, or an algorithm that needs less. Such calls count for no efficiency.
return {
  id        = "capture/impossible-rates",
  title     = "Check the name of the GPU: sizes suggest more work than it can do",
  status    = "stable",
  since     = "0.2",
  kind      = "info",
  knowledge = { "K-E1" },
  effort    = "flag",

  needs      = { "roofline.shapes.dropped.count", "roofline.shapes.dropped.share", "hw.known" },
  optional   = { "roofline.shapes.dropped.example" },
  thresholds = { "min_share" },

  symptom = "The efficiency of calls that take {share:pct} of the kernel time is unknown{example_text:text}: their sizes mean more work than their kernels can have done.",
  cause   = "The GPU is another one than the report or --gpu says, weights are sparse, or the kernels need fewer operations than these sizes suggest (Winograd, FFT, skipped experts).",
  fixes   = {
    { action = "If the GPU is another one, name it", snippet = "advise --gpu NAME REPORT   # such as h100-sxm or mi300x", language = "bash" },
  },
  false_positives = "Convolutions by Winograd's algorithm, and sparse matrix products: they run faster than their sizes suggest.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    if not f.hw.known then return false, "the GPU is not known" end
    return f.roofline.shapes.dropped.count > 0, "no recorded call would run faster than the GPU can"
  end,

  detect = function(f, t)
    local part = f.roofline.shapes.dropped.share
    if not at_least(part, t.min_share) then return nil end
    local example = f.roofline.shapes.dropped.example
    return { share = part, count = f.roofline.shapes.dropped.count, example_text = example and ", such as " .. example or "" }
  end,

  tests = {
    { name = "a tenth of the time in convolutions by Winograd's algorithm",
      edges = { ["roofline.shapes.dropped.share"] = 0.05 },
      facts = { hw = { known = true }, roofline = { shapes = { dropped = { count = 156, share = 0.13, example = "aten::cudnn_convolution [32, 512, 7, 7]" } } } },
      expect = { share = 0.13, count = 156, example_text = ", such as aten::cudnn_convolution [32, 512, 7, 7]" } },
    { name = "near miss: a sliver of the time",
      facts = { hw = { known = true }, roofline = { shapes = { dropped = { count = 3, share = 0.004 } } } }, expect = "silent" },
    { name = "none", facts = { hw = { known = true }, roofline = { shapes = { dropped = { count = 0, share = 0 } } } }, expect = "not_applicable" },
    { name = "a GPU without a name",
      facts = { hw = { known = false }, roofline = { shapes = { dropped = { count = 156, share = 0.13 } } } }, expect = "not_applicable" },
    { name = "sizes were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
