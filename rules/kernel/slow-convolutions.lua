-- Convolutions that take much longer than good libraries take for the same sizes: measured by recorded sizes.
-- Depthwise ones are limited by memory: matrix units do not help them.
local why = {
  ["depthwise"] = "Each channel is convolved alone (depthwise), so there is little arithmetic per byte. Memory is the limit, and the kernel does not keep it busy. Matrix units do not help.",
  ["fp64-units"] = "They compute in FP64, which is far slower than any other type.",
  ["fp32-units"] = "They compute in FP32 without the matrix units, which are many times faster.",
  ["few-channels"] = "So few channels do not fill the matrix units, which multiply at least 16 terms at once.",
  ["odd-channels"] = "A number of channels is not a multiple of 8, so the matrix units get their data piece by piece.",
  ["grouped"] = "Each group has few channels, so the matrix units are half empty.",
  ["few-tiles"] = "The result is too small to give each SM a tile.",
  ["few-uses"] = "There is little arithmetic per byte here, so memory is the limit.",
  [""] = "The library may have chosen a poor algorithm, or converts layouts. At these sizes, good libraries are faster.",
}

return {
  id        = "kernel/slow-convolutions",
  title     = "Speed up convolutions that run far below the peak",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 57,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-E1", "K-H1", "K-C5" },
  effort    = "code",

  loss           = "roofline.below.convolutions",
  not_applicable = "no recorded convolution runs far below what the GPU allows",
  evidence       = { "count", "rows" },
  thresholds     = { "min_share" },

  symptom = "{op:text} {shape:text} in {dtype:text} reaches {attained:pct} of {roof:text}; good libraries reach {good:pct}. Such convolutions waste {share:pct} of the time. The kernel is {place:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "depthwise", action = "Where convolutions are depthwise, fuse them with their neighbors (torch.compile), and use channels-last layout and 16-bit types: each moves fewer bytes",
      snippet = "model = torch.compile(model.to(memory_format=torch.channels_last))", language = "python", ["for"] = { "pytorch" } },
    { reason = "fp32-units", action = "Where convolutions run in FP32, allow TF32 or use bf16",
      snippet = "torch.backends.cudnn.allow_tf32 = True\nwith torch.autocast(\"cuda\", dtype=torch.bfloat16):   # GPUs without bf16 units: torch.float16\n    y = model(x)", language = "python", ["for"] = { "pytorch" } },
    { reason = "few-channels", action = "Where channels are few, pad them to a multiple of 8 (images: 3 to 4 or 8), or fold pixels into channels (space-to-depth) before the first layer" },
    { reason = "odd-channels", action = "Where the number of channels is not a multiple of 8, make it one, or better a multiple of 64" },
    { reason = "few-tiles", action = "Where results are small, raise the batch, so that each SM gets a tile" },
    { action = "Let the library measure its algorithms, in channels-last layout",
      snippet = "torch.backends.cudnn.benchmark = True\nmodel = model.to(memory_format=torch.channels_last)", language = "python", ["for"] = { "pytorch", "nvidia" } },
    { action = "Let the library measure its algorithms, in channels-last layout",
      snippet = "torch.backends.cudnn.benchmark = True   # MIOpen as well; in the environment: MIOPEN_FIND_MODE=NORMAL\nmodel = model.to(memory_format=torch.channels_last)", language = "python", ["for"] = { "pytorch", "amd" } },
    { action = "Profile the kernel: ncu shows which unit or which wait limits it",
      snippet = "ncu --set full --kernel-name 'regex:^{kernel_name:function}$' --launch-count 3 -o slow -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Profile the kernel: rocprof-compute shows which unit or which wait limits it",
      snippet = "rocprof-compute profile --name slow --kernel {kernel_name:function} -- COMMAND", language = "bash", ["for"] = { "amd" } },
  },
  false_positives = "Convolutions that run once, before the library has measured its algorithms.",
  references = { "pytorch/tuning-guide", "pytorch/channels-last", "rocm/tuning" },

  detect = function(f, t, e)
    local worst = f.roofline.below.convolutions.rows[1]
    e.why = why[worst.reason] or why[""]
    return adopt(e, worst)
  end,

  saving = { confidence = 0.5, basis = "convolutions run as fast as in good libraries at the same sizes" },

  tests = {
    { name = "half of the time could be won",
      edges = { ["roofline.below.convolutions.lost"] = 1e7 },
      facts = { window = { device_time = 1e9 },
                roofline = { below = { convolutions = { count = 10, lost = 4.8e8, remedy = true, rows = { { op = "aten::convolution", shape = "[1, 3, 2048, 2048] * [64, 3, 7, 7] to [1024, 1024]", dtype = "fp32", place = "igemm_fwd", kernel_name = "igemm_fwd", reason = "few-channels", roof = "the peak", attained = 0.2, good = 0.5 } } } } } },
      expect = { share = 0.48, attained = 0.2, good = 0.5, op = "aten::convolution", reason = "few-channels", roof = "the peak", rows = 1 },
      saving = { claims = 4.8e8 } },
    { name = "near miss: too little to win",
      facts = { window = { device_time = 1e9 },
                roofline = { below = { convolutions = { count = 10, lost = 5e6, remedy = true, rows = { { op = "aten::convolution", shape = "[1, 3, 2048, 2048] * [64, 3, 7, 7] to [1024, 1024]", dtype = "fp32", place = "igemm_fwd", kernel_name = "igemm_fwd", reason = "few-channels", roof = "the peak", attained = 0.2, good = 0.5 } } } } } },
      expect = "silent" },
    { name = "near miss: all run as good libraries do", facts = { window = { device_time = 1e9 },
                roofline = { below = { convolutions = { count = 0, lost = 0, remedy = true, rows = {  } } } } }, expect = "not_applicable" },
    { name = "sizes were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
