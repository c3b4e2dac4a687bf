-- The operator aten::copy_ stands for copies over the link, and for kernels that change the type or the layout on the GPU. It
-- is what people see first in a profiler's table; the copies and kernels say which of the two it is.
return {
  id        = "transfer/copy-operator",
  title     = "Find out which tensors aten::copy_ copies, and copy less",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  effort    = "code",
  knowledge = { "K-A3", "K-A7" },

  needs      = { "op.copy.count", "op.copy.per_step", "op.copy.gpu", "window.device_time", "copy.h2d.time", "copy.d2h.time" },
  thresholds = { "min_share" },

  symptom = "aten::copy_ is called {count:count} times {per:text}, and what it launches takes {share:pct} of the time: mostly {what:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "link", action = "Send batches in the type in which they are stored, prepare them on the GPU, and copy from pinned memory",
      snippet = "x = images_uint8.to(device, non_blocking=True).float().div_(255)     # DataLoader(pin_memory=True)", language = "python", ["for"] = { "pytorch" } },
    { reason = "link", action = "Keep on the GPU what is used again, and create tensors there", snippet = "mask = torch.zeros(n, device=device)     # not torch.zeros(n).to(device)",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "device", action = "Find out who calls it: .to(), .contiguous(), .clone() and assignments to slices all end in aten::copy_",
      snippet = 'print(prof.key_averages(group_by_stack_n=5).table(sort_by="self_cuda_time_total"))     # profile(with_stack=True)',
      language = "python", ["for"] = { "pytorch" } },
    { reason = "device", action = "Use one type and one memory format throughout, or let the compiler fuse the copies with the operators next to them",
      snippet = "model = torch.compile(model.to(memory_format=torch.channels_last))     # channels_last: for convolutions", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "A cache that has to be filled, such as keys and values during generation.",
  references = { "pytorch/profiler", "pytorch/tuning-guide" },

  applies = function(f) return f.op.copy.count > 0, "aten::copy_ was not called" end,

  detect = function(f, t)
    local part = share(f.op.copy.gpu, f.window.device_time)
    if not at_least(part, t.min_share) then return nil end
    local link = 2 * (f.copy.h2d.time + f.copy.d2h.time) >= f.op.copy.gpu
    return { share = part, count = f.op.copy.per_step, reason = link and "link" or "device",
             what = link and "copies between host and GPU" or "copies and conversions on the GPU",
             why = link and "More data crosses the link than the step needs, or it crosses it in a wide type."
                        or "Tensors change their type or their layout, or are copied where a view would do. Each copy reads and writes the whole tensor and computes nothing." }
  end,

  tests = {
    { name = "uploads",
      edges = { ["op.copy.gpu"] = 1.5e8 },
      facts = { window = { device_time = 1e9 }, op = { copy = { count = 400, per_step = 40, gpu = 3e8 } }, copy = { h2d = { time = 2.5e8 }, d2h = { time = 0 } } },
      expect = { share = 0.3, count = 40, reason = "link", what = "copies between host and GPU" } },
    { name = "conversions on the GPU",
      facts = { window = { device_time = 1e9 }, op = { copy = { count = 9000, per_step = 900, gpu = 3e8 } }, copy = { h2d = { time = 1e7 }, d2h = { time = 0 } } },
      expect = { reason = "device", what = "copies and conversions on the GPU" } },
    { name = "near miss: a batch per step",
      facts = { window = { device_time = 1e9 }, op = { copy = { count = 10, per_step = 1, gpu = 2e7 } }, copy = { h2d = { time = 2e7 }, d2h = { time = 0 } } },
      expect = "silent" },
    { name = "it is not called", facts = { op = { copy = { count = 0 } } }, expect = "not_applicable" },
    { name = "operators were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
