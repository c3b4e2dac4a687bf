-- With gradient accumulation only the last micro-step needs to send gradients; here each of them does.
return {
  id        = "comm/every-microstep",
  title     = "Synchronize gradients once per step, not after every micro-step",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 76,
  explains  = { "comm/exposed", "comm/full-link", "comm/serial-gradient-sync", "step/backward-gaps" },
  knowledge = { "K-K9", "K-N13" },
  effort    = "code",

  needs      = { "comm.count", "comm.micro.backwards", "comm.micro.synced", "comm.micro.lost", "comm.micro.remedy",
                 "window.device_time" },
  optional   = { "comm.micro.optimizers" },
  thresholds = { "min_backwards", "min_share" },

  symptom = "A step has {backwards:count} backward passes and one optimizer update. Gradients are sent after {synced:count} of the passes. For {share:pct} of the time, the GPUs do nothing but send the gradients of the early passes.",
  cause   = "DDP sends the gradients after every backward pass, although they could add up on each rank until the last micro-step.",
  fixes   = {
    { action = "Run all but the last micro-step without gradient synchronization",
      snippet = "for i, (x, y) in enumerate(micro_batches):\n    last = i + 1 == len(micro_batches)\n    with contextlib.nullcontext() if last else model.no_sync():\n        (loss_fn(model(x), y) / len(micro_batches)).backward()\noptimizer.step()",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "With DeepSpeed or Accelerate, set the number of micro-steps and let the library do it",
      snippet = "{ \"gradient_accumulation_steps\": 4 }", language = "json", ["for"] = { "pytorch" } },
    { action = "Sum up the gradients of all micro-batches on each GPU first, and exchange the sum once per step", ["for"] = { "training" } },
  },
  false_positives = "Several losses with a backward pass each (adversarial training), whose gradients must be sent each time. With sharded gradients (ZeRO-2 and up), sending each time saves memory.",
  references = { "pytorch/ddp", "deepspeed/zero" },

  applies = function(f) return f.comm.count > 0, "no communication kernels ran" end,

  detect = function(f, t)
    local micro = f.comm.micro
    if not at_least(micro.backwards, t.min_backwards) or not at_least(micro.synced, t.min_backwards) then return nil end
    -- An optimizer update after each backward pass is no accumulation.
    if micro.optimizers and micro.optimizers > 1 then return nil end
    local lost = share(micro.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    return { backwards = micro.backwards, synced = micro.synced, share = lost }
  end,

  saving = { claims = "comm.micro.lost", remedy = "comm.micro.remedy", confidence = 0.7,
             basis = "only the last micro-step sends gradients" },

  tests = {
    { name = "four micro-steps, all of them synchronized",
      edges = { ["comm.micro.backwards"] = 2, ["comm.micro.lost"] = 8e7 },
      facts = { window = { device_time = 4e9 },
                comm = { count = 640, micro = { backwards = 4, synced = 4, optimizers = 1, lost = 6e8, remedy = true } } },
      expect = { backwards = 4, synced = 4, share = 0.15 }, saving = { claims = 6e8 } },
    { name = "near miss: only the last one sends",
      facts = { window = { device_time = 4e9 },
                comm = { count = 160, micro = { backwards = 4, synced = 1, optimizers = 1, lost = 0, remedy = true } } },
      expect = "silent" },
    { name = "near miss: an update after each backward pass",
      facts = { window = { device_time = 4e9 },
                comm = { count = 640, micro = { backwards = 4, synced = 4, optimizers = 4, lost = 6e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: hidden behind the next micro-step",
      facts = { window = { device_time = 4e9 },
                comm = { count = 640, micro = { backwards = 4, synced = 4, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "one GPU", facts = { comm = { count = 0 } }, expect = "not_applicable" },
    { name = "no ranges name the backward pass", facts = { window = { device_time = 1e9 }, comm = { count = 10 } }, expect = "cannot_tell" },
  },
}
