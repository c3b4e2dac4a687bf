-- The GPU is idle while the backward pass runs, in a job of several GPUs: the host is late, or waits for a gradient's all-reduce
-- before it goes on. Why, other rules say.
return {
  id        = "step/backward-gaps",
  title     = "Find out why the GPU is idle during the backward pass",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  effort    = "code",
  knowledge = { "K-B6", "K-N19" },

  needs      = { "steps.median", "phase.backward.idle", "phase.backward.ranges", "comm.count" },
  optional   = { "phase.backward.gpu" },
  thresholds = { "min_share" },

  symptom = "In the backward pass, the GPU is idle for {idle:time} {per:text}, {share:pct} of the step.",
  cause   = "Autograd launches the backward pass, and collectives start as gradients become ready. Gaps mean that the host is late, or that a hook waits for a collective instead of leaving that to the GPU.",
  fixes   = {
    { action = "Let DistributedDataParallel start all-reduces by itself, in buckets, and take hooks that wait out of the backward pass",
      snippet = "model = torch.nn.parallel.DistributedDataParallel(\n    model, device_ids=[local_rank], gradient_as_bucket_view=True)", language = "python", ["for"] = { "pytorch" } },
    { action = "Make the backward pass cheap for the host: compile the model", snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
    { action = "Start the exchange of gradients in the backward pass, and wait for it only before the optimizer", ["for"] = { "training" } },
  },
  false_positives = "Backward ranges that hold the optimizer or the next batch as well.",
  references = { "pytorch/ddp", "pytorch/compile" },

  applies = function(f)
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    return f.phase.backward.ranges > 0, "no ranges name the backward pass"
  end,

  detect = function(f, t)
    local part = share(f.phase.backward.idle, f.steps.median)
    if not at_least(part, t.min_share) then return nil end
    return { idle = f.phase.backward.idle, share = part, gpu = f.phase.backward.gpu }
  end,

  tests = {
    { name = "a fifth of the step",
      edges = { ["phase.backward.idle"] = 1e7 },
      facts = { steps = { median = 1e8 }, phase = { backward = { idle = 2e7, ranges = 20, gpu = 4e7 } }, comm = { count = 200 } },
      expect = { share = 0.2, idle = 2e7 } },
    { name = "near miss: a few launches come late",
      facts = { steps = { median = 1e8 }, phase = { backward = { idle = 2e6, ranges = 20 } }, comm = { count = 200 } }, expect = "silent" },
    { name = "one GPU", facts = { steps = { median = 1e8 }, phase = { backward = { idle = 2e7, ranges = 20 } }, comm = { count = 0 } }, expect = "not_applicable" },
    { name = "phases are not named", facts = { steps = { median = 1e8 }, comm = { count = 10 } }, expect = "cannot_tell" },
  },
}
