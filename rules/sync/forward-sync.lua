-- The forward pass takes longer than the backward pass, which is about twice the work: something in it waits for the
-- GPU. Three signals: waits inside forward ranges in every step, idle time after them, and a forward phase that is
-- out of proportion. Waits in a forward phase of normal length are left to sync/item-in-loop.
return {
  id        = "sync/forward-sync",
  title     = "Remove waits for the GPU from the forward pass",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  topic     = "waits",
  effort    = "code",
  priority  = 79,
  explains  = { "sync/item-in-loop", "sync/device-sync-in-loop", "sync/host-busy-wait", "host/cpu-bound", "transfer/exposed-copy" },
  knowledge = { "K-A5" },

  needs_loop     = true,
  loss           = "sync.forward",
  not_applicable = "no wait lies inside a forward range",
  evidence       = { "count", "per_step", "operator", "source" },
  needs          = { "steps.forward.host_time", "steps.backward.host_time" },
  optional       = { "sync.forward.operator", "sync.forward.source", "steps.forward.time", "steps.backward.time", "sync.forward.reads" },
  thresholds     = { "min_share", "min_per_step", "min_forward_ratio", "most_reads" },

  symptom = "In the forward pass, the host waits for the GPU {per_step:num} times {per:text}{op_text:text}. Around these waits, the GPU computes nothing for {share:pct} of the time. {where:text}, the forward pass takes {ratio:num} times as long as the backward pass.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "waits", action  = "Remove synchronization calls from the model; to time its parts, record events, and read them after the step",
      snippet = [[times = []                                       # once
begin, done = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
begin.record(); y = layer(x); done.record()      # no torch.cuda.synchronize() here
times.append((begin, done))                      # after the step: begin.elapsed_time(done)]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "!waits", action  = "Let PyTorch name the line, then remove .item(), .cpu(), print(tensor) and conditions on tensors from forward()",
      snippet = [[torch.cuda.set_sync_debug_mode("error")
model(batch)]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "!waits", action  = "Keep data-dependent choices on the GPU",
      snippet = [[x = torch.where(keep, x, torch.zeros_like(x))   # instead of: x[keep], which needs its size on the host
n = lengths_cpu.max()                           # from a copy of the lengths that never left the host]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "!waits", action = "Record what you want to look at, and look at it every N steps, after the step has been launched" },
  },
  false_positives = "A frozen backbone with a small trained head has little to do in the backward pass.",
  references = { "pytorch/tuning-guide", "pytorch/cuda-semantics" },

  detect = function(f, t, e)
    local ratio = share(f.steps.forward.host_time, f.steps.backward.host_time)
    e.where = "On the host"
    if f.steps.forward.time and f.steps.backward.time and share(f.steps.forward.time, f.steps.backward.time) > ratio then
      ratio, e.where = share(f.steps.forward.time, f.steps.backward.time), "On the GPU"
    end
    if not at_least(ratio, t.min_forward_ratio) then return nil end
    e.ratio = ratio
    local reads = not f.sync.forward.reads or at_least(f.sync.forward.reads, t.most_reads)
    e.reason = not reads and "waits" or nil
    e.why = reads and "Something in the model's forward code reads a value from the GPU and waits for it."
            or "The program calls for the wait itself, as a timer does: no value is read."
    e.op_text = e.operator and "; most come from " .. e.operator .. (e.source and " in " .. e.source or "")
      or e.source and "; most come from " .. e.source or ""
    return e
  end,

  saving = { confidence = 0.85,
             basis = "the forward pass does not wait, and the host stays ahead of the GPU" },

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "a framework's trace names the operator",
      edges = { ["steps.backward.host_time"] = 2e7, ["sync.forward.lost"] = 5e5, ["sync.forward.per_step"] = 1 },
      facts = { window = { device_time = 1e9 },
                sync = { forward = { count = 240, per_step = 12, lost = 1e8, remedy = true, operator = "aten::nonzero" } },
                steps = { forward = { host_time = 3e7, time = 1e7 }, backward = { host_time = 1e7, time = 2e7 } } },
      expect = { operator = "aten::nonzero", op_text = "; most come from aten::nonzero" } },
    { name = "a wait a layer makes the forward pass three times the backward pass",
      facts = { window = { device_time = 1e9 },
                sync = { forward = { count = 240, per_step = 12, lost = 1e8, remedy = true } },
                steps = { forward = { host_time = 3e7, time = 1e7 }, backward = { host_time = 1e7, time = 2e7 } } },
      expect = { share = 0.1, count = 240, per_step = 12, ratio = 3, op_text = "" }, saving = { claims = 1e8, confidence = 0.85 } },
    { name = "a timer around each layer",
      edges = { ["sync.forward.reads"] = 0.5 },
      facts = { window = { device_time = 1e9 },
                sync = { forward = { count = 240, per_step = 12, reads = 0, lost = 1e8, remedy = true } },
                steps = { forward = { host_time = 3e7, time = 1e7 }, backward = { host_time = 1e7, time = 2e7 } } },
      expect = { reason = "waits", why = "The program calls for the wait itself, as a timer does: no value is read." } },
    { name = "near miss: waits in a forward pass of normal length",
      facts = { window = { device_time = 1e9 },
                sync = { forward = { count = 240, per_step = 12, lost = 1e8, remedy = true } },
                steps = { forward = { host_time = 1.2e7 }, backward = { host_time = 1e7 } } },
      expect = "silent" },
    { name = "near miss: a long forward pass, and the waits cost nothing",
      facts = { window = { device_time = 1e9 },
                sync = { forward = { count = 20, per_step = 1, lost = 1e5, remedy = true } },
                steps = { forward = { host_time = 3e7 }, backward = { host_time = 1e7 } } },
      expect = "silent" },
    { name = "no waits in the forward pass", facts = { window = { device_time = 1e9 }, sync = { forward = { count = 0 } } },
      expect = "not_applicable" },
    { name = "phases are not known",
      facts = { window = { device_time = 1e9 }, sync = { forward = { count = 240, per_step = 12, lost = 1e8, remedy = true } } },
      expect = "cannot_tell" },
  },
}
