-- Two- and three-dimensional copies that hold the launching thread: the driver splits copies of narrow rows into many
-- small ones.
return {
  id        = "transfer/strided-copy",
  title     = "Copy contiguous memory",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 68,
  explains  = { "transfer/blocking-copy", "transfer/exposed-copy" },
  knowledge = { "K-H6", "K-B8" },

  needs_loop = true,
  loss       = "calls.strided_copy",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "Strided copies block the launching thread ({count:count} {per:text}). The GPU waits {share:pct} of the time for that.",
  cause   = "Where rows are short, the link and the copy engine reach a fraction of their rate: a strided copy moves row by row. How wide the rows are was not recorded.",
  fixes   = {
    { action = "Pack what is sent into one contiguous buffer with a kernel, and copy that" },
    { action = "Use asynchronous copies on a separate stream" },
  },
  false_positives = "Copies of whole planes, whose rows are long.",
  references = { "cuda-best-practices/transfers" },

  saving = { confidence = 0.55, basis = "one contiguous copy replaces them and does not block the host" },

  tests = {
    { name = "a halo of narrow rows",
      edges = { ["calls.strided_copy.lost"] = 2e7, ["calls.strided_copy.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, calls = { strided_copy = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.55 } },
    { name = "near miss: beside the GPU's work",
      facts = { window = { device_time = 1e9 }, calls = { strided_copy = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, calls = { strided_copy = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "there are no strided copies in the loop",
      facts = { window = { device_time = 1e9 }, calls = { strided_copy = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
