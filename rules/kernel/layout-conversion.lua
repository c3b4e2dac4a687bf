-- Kernels that only change the order of a tensor in memory: NCHW to NHWC and back around convolutions, transposes around
-- matrix products.
return {
  id        = "kernel/layout-conversion",
  title     = "Keep tensors in the layout that tensor cores use (channels-last)",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 73,
  explains  = { "kernel/hot", "launch/tiny-kernels", "transfer/copy-operator", "step/low-mfu" },
  knowledge = { "K-H1" },
  effort    = "code",

  loss           = "kernel.layout",
  not_applicable = "no transposes or layout conversions ran",
  evidence       = { "count", compute_share = "share" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Changing the layout of tensors takes {share:pct} of the time: {count:count} transposes and conversions {per:text}.",
  cause   = "The kernels that do the work need a different memory layout from the one the tensors have. Data is rearranged before and after each of them.",
  fixes   = {
    { action = "Keep model and input in channels-last layout, which tensor-core convolutions use directly",
      snippet = "model = model.to(memory_format=torch.channels_last)\nx = x.to(\"cuda\", memory_format=torch.channels_last)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "In your own code, remove transposes that are undone later, and call contiguous() only where a kernel needs it" },
    { action = "In CUDA C++, store tensors as NHWC from the start, and let cuBLAS read a transposed operand (CUBLAS_OP_T) instead of copying it", ["for"] = { "c++" } },
  },
  false_positives = "Layers without a channels-last implementation. They convert back, which costs more than the conversion saves.",
  references = { "pytorch/channels-last", "nvidia/tensor-core-alignment" },

  saving = { confidence = 0.7, basis = "the conversions are gone" },

  tests = {
    { name = "32 conversions a step around convolutions",
      edges = { ["kernel.layout.count"] = 4, ["kernel.layout.lost"] = 4e7 },
      facts = { window = { device_time = 1e9 },
                kernel = { layout = { share = 0.104, count = 32, lost = 1.03e8, remedy = true } } },
      expect = { share = 0.103, count = 32 },
      saving = { claims = 1.03e8 } },
    { name = "near miss: the few transposes that every step has",
      facts = { window = { device_time = 1e9 },
                kernel = { layout = { share = 0.02, count = 48, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one large transpose that the program is about",
      facts = { window = { device_time = 1e9 },
                kernel = { layout = { share = 0.3, count = 1, lost = 3e8, remedy = true } } },
      expect = "silent" },
    { name = "no conversions",
      facts = { window = { device_time = 1e9 }, kernel = { layout = { share = 0, count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
