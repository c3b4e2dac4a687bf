-- The forward pass takes longer than the backward pass, which is about twice the work: something in it waits for the
-- GPU. Three signals: waits inside forward ranges in every step, idle time after them, and a forward phase that is
-- out of proportion. Waits in a forward phase of normal length are left to sync/item-in-loop.
return {
  id        = "sync/forward-sync",
  title     = "Take the wait for the GPU out of the forward pass",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "code",
  priority  = 79,
  explains  = { "sync/item-in-loop", "sync/device-sync-in-loop", "sync/host-busy-wait", "host/cpu-bound" },
  knowledge = { "K-A5" },

  needs      = { "window.device_time", "sync.forward.count", "sync.forward.per_step", "sync.forward.lost", "sync.forward.remedy",
                 "steps.forward.host_time", "steps.backward.host_time" },
  optional   = { "window.supports_verdict", "sync.forward.operator", "sync.forward.source", "steps.forward.time", "steps.backward.time" },
  thresholds = { "min_share", "min_per_step", "min_forward_ratio" },

  symptom = "The forward pass takes {ratio:num} times as long as the backward pass; {per_step:num} waits a step lie inside " ..
            "it, and the GPU loses {share:pct} of its time to them{op_text:text}.",
  cause   = "Something in the model's forward code reads a value from the GPU and waits for it.",
  fixes   = {
    { action  = "Let PyTorch name the line, then remove .item(), .cpu(), print(tensor) and tests of tensors from forward()",
      snippet = [[torch.cuda.set_sync_debug_mode("error")
model(batch)]],
      language = "python" },
    { action  = "Keep data-dependent choices on the GPU",
      snippet = [[x = torch.where(keep, x, torch.zeros_like(x))   # instead of: x[keep], which needs its size on the host
n = lengths_cpu.max()                           # from a copy of the lengths that never left the host]],
      language = "python" },
    { action = "Record what you want to look at, and look at it every N steps after the step has been launched" },
  },
  false_positives = "A frozen backbone with a small trained head has little to do in the backward pass.",
  references = { "pytorch/tuning-guide", "pytorch/cuda-semantics" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.sync.forward.count > 0, "no wait lies inside a forward range"
  end,

  detect = function(f, t)
    local lost = share(f.sync.forward.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.sync.forward.per_step, t.min_per_step) then return nil end
    local ratio = share(f.steps.forward.host_time, f.steps.backward.host_time)
    if f.steps.forward.time and f.steps.backward.time then
      ratio = math.max(ratio, share(f.steps.forward.time, f.steps.backward.time))
    end
    if not at_least(ratio, t.min_forward_ratio) then return nil end
    local op, source = f.sync.forward.operator, f.sync.forward.source
    local op_text = op and "; most come from " .. op .. (source and " in " .. source or "")
      or source and "; most come from " .. source or ""
    return { share = lost, count = f.sync.forward.count, per_step = f.sync.forward.per_step, ratio = ratio,
             op_text = op_text, operator = op, source = source }
  end,

  saving = function(f)
    return { claims = f.sync.forward.lost, remedy = f.sync.forward.remedy, confidence = 0.85,
             basis = "the forward pass does not wait and the host stays ahead of the GPU" }
  end,

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "a framework's trace names the operator",
      facts = { window = { device_time = 1e9 },
                sync = { forward = { count = 240, per_step = 12, lost = 1e8, remedy = true, operator = "aten::nonzero" } },
                steps = { forward = { host_time = 3e7, time = 1e7 }, backward = { host_time = 1e7, time = 2e7 } } },
      expect = { operator = "aten::nonzero", op_text = "; most come from aten::nonzero" } },
    { name = "a wait a layer makes the forward pass three times the backward pass",
      facts = { window = { device_time = 1e9 },
                sync = { forward = { count = 240, per_step = 12, lost = 1e8, remedy = true } },
                steps = { forward = { host_time = 3e7, time = 1e7 }, backward = { host_time = 1e7, time = 2e7 } } },
      expect = { share = 0.1, count = 240, per_step = 12, ratio = 3, op_text = "" }, saving = { claims = 1e8, confidence = 0.85 } },
    { name = "near miss: waits in a forward pass of normal length",
      facts = { window = { device_time = 1e9 },
                sync = { forward = { count = 240, per_step = 12, lost = 1e8, remedy = true } },
                steps = { forward = { host_time = 1.2e7 }, backward = { host_time = 1e7 } } },
      expect = "silent" },
    { name = "near miss: a long forward pass, and the waits cost nothing",
      facts = { window = { device_time = 1e9 },
                sync = { forward = { count = 20, per_step = 1, lost = 1e6, remedy = true } },
                steps = { forward = { host_time = 3e7 }, backward = { host_time = 1e7 } } },
      expect = "silent" },
    { name = "no waits in the forward pass", facts = { window = { device_time = 1e9 }, sync = { forward = { count = 0 } } },
      expect = "not_applicable" },
    { name = "phases are not known",
      facts = { window = { device_time = 1e9 }, sync = { forward = { count = 240, per_step = 12, lost = 1e8, remedy = true } } },
      expect = "cannot_tell" },
  },
}
