-- Ranges name phases, but much of the GPU work is launched outside of them: what is said of phases holds for a part of
-- the work only.
return {
  id        = "capture/few-named-ranges",
  title     = "Add ranges to the rest of the step",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  own_steps = true,
  knowledge = { "K-O2", "K-G6" },

  needs      = { "capture.has_ranges", "capture.range_coverage" },
  thresholds = { "min_named", "max_named" },

  symptom = "Only {share:pct} of the GPU work, by time, was launched inside a range that names a phase.",
  cause   = "Some parts of the step have no range, so the report cannot say which phase they belong to.",
  fixes   = {
    { action  = "Put a range around each phase",
      snippet = [[with torch.cuda.nvtx.range("forward"):
    out = model(x)]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "In CUDA C++, put an NVTX range around each phase",
      snippet = "#include <nvtx3/nvtx3.hpp>\nnvtx3::scoped_range phase{\"exchange\"};", language = "cpp", ["for"] = { "c++" } },
    { action  = "Put a range around each phase (Python package nvtx)",
      snippet = "import nvtx\nwith nvtx.annotate(\"forward\"):\n    out = model(params, x)", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Programs without ranges of their own, in which only libraries open some.",
  references = { "pytorch/nvtx" },

  applies = function(f)
    return f.capture.has_ranges, "the report has no ranges"
  end,

  detect = function(f, t)
    if not at_least(f.capture.range_coverage, t.min_named) then return nil end
    if not at_most(f.capture.range_coverage, t.max_named) then return nil end
    return { share = f.capture.range_coverage }
  end,

  tests = {
    { name = "only the forward pass",
      edges = { ["capture.range_coverage"] = { 0.05, 0.7 } },
      facts = { capture = { has_ranges = true, range_coverage = 0.35 } },
      expect = { share = 0.35 } },
    { name = "near miss: all phases",
      facts = { capture = { has_ranges = true, range_coverage = 0.98 } },
      expect = "silent" },
    { name = "near miss: ranges of a library",
      facts = { capture = { has_ranges = true, range_coverage = 0.01 } },
      expect = "silent" },
    { name = "no ranges",
      facts = { capture = { has_ranges = false, range_coverage = 0 } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
