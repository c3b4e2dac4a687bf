-- .to() in every line: the host spends its time in converting or moving tensors, call by call, while the GPU waits. What the casts take
-- on the GPU is for precision/repeated-cast; copies that the host waits for are for transfer/... and sync/item-in-loop.
return {
  id        = "host/tensor-conversions",
  title     = "Convert and move each tensor once, before the loop",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  effort    = "code",
  knowledge = { "K-A4", "K-A8" },

  needs      = { "op.cast.count", "op.cast.per_step", "op.cast.host", "window.time", "budget.idle" },
  thresholds = { "min_share", "min_per_step", "max_call", "min_idle" },

  symptom = "aten::_to_copy is called {count:count} times {per:text}. It keeps the host busy for {share:pct} of the time. The GPU is idle for {idle:pct} of the time.",
  cause   = "Each .to(), .float() or .half() that changes something costs the host an allocation, a dispatch and a launch, however small the tensor is.",
  fixes   = {
    { action = "Convert constants, masks and tables once, before the loop", snippet = "table = table.to(device, torch.bfloat16)      # once\nfor x in loader:\n    y = model(x, table)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Create tensors where and as they are used", snippet = "steps = torch.arange(n, device=device, dtype=torch.float32)     # not torch.arange(n).to(device).float()",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Let autocast choose types, and compile the model: the compiler removes conversions from the host's path",
      snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "A host that is far ahead of the GPU; the GPU is idle for another reason then.",
  references = { "pytorch/tuning-guide", "pytorch/compile" },

  applies = function(f) return f.op.cast.count > 0, "no tensor is converted or moved" end,

  detect = function(f, t)
    local part = share(f.op.cast.host, f.window.time)
    local idle = share(f.budget.idle, f.window.time)
    if not at_least(part, t.min_share) or not at_least(f.op.cast.per_step, t.min_per_step) then return nil end
    -- Long calls wait for the GPU or the link; that is another fault.
    if not at_most(share(f.op.cast.host, f.op.cast.count), t.max_call) then return nil end
    if not at_least(idle, t.min_idle) then return nil end
    return { share = part, count = f.op.cast.per_step, idle = idle }
  end,

  tests = {
    { name = "two hundred conversions per step",
      edges = { ["op.cast.host"] = { 5e7, 4e8 }, ["op.cast.per_step"] = 10, ["budget.idle"] = 2e8 },
      facts = { window = { time = 1e9 }, budget = { idle = 5e8 }, op = { cast = { count = 4000, per_step = 200, host = 1.2e8 } } },
      expect = { share = 0.12, count = 200, idle = 0.5 } },
    { name = "near miss: the GPU has work all the time",
      facts = { window = { time = 1e9 }, budget = { idle = 2e7 }, op = { cast = { count = 4000, per_step = 200, host = 1.2e8 } } },
      expect = "silent" },
    { name = "near miss: few calls that wait for their copy",
      facts = { window = { time = 1e9 }, budget = { idle = 5e8 }, op = { cast = { count = 400, per_step = 20, host = 3e8 } } },
      expect = "silent" },
    { name = "near miss: one batch per step",
      facts = { window = { time = 1e9 }, budget = { idle = 5e8 }, op = { cast = { count = 2000, per_step = 2, host = 6e7 } } },
      expect = "silent" },
    { name = "none", facts = { op = { cast = { count = 0 } } }, expect = "not_applicable" },
    { name = "operators were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
