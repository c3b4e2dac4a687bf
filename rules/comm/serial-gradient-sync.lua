-- Gradient collectives begin only after the last kernel of the backward pass. With overlap only the last bucket does.
return {
  id        = "comm/serial-gradient-sync",
  title     = "Reduce gradients while the backward pass still runs",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  priority  = 75,
  explains  = { "comm/exposed" },
  knowledge = { "K-B5", "K-B6", "K-K1", "K-K6" },
  effort    = "code",

  needs      = { "comm.count", "comm.serial.share", "comm.serial.lost", "comm.serial.remedy", "window.device_time" },
  thresholds = { "min_serial", "min_share" },

  symptom = "{serial:pct} of the gradient communication starts only after the backward pass; it leaves the GPUs without compute {share:pct} of the time.",
  cause   = "Gradients of the last layers are ready early in the backward pass, but they are sent only when all of it is done, so communication and compute run one after the other.",
  fixes   = {
    { action = "Let DistributedDataParallel reduce gradients in buckets during backward, instead of a loop over parameters after it",
      snippet = "model = torch.nn.parallel.DistributedDataParallel(\n    model, device_ids=[local_rank], gradient_as_bucket_view=True, bucket_cap_mb=25)",
      language = "python" },
    { action = "If DDP is in use: a bucket as large as the model, or static_graph/find_unused_parameters set wrongly, delays the first reduction",
      snippet = "DistributedDataParallel(model, bucket_cap_mb=25, find_unused_parameters=False)", language = "python" },
    { action = "With DeepSpeed switch overlap on",
      snippet = "{ \"zero_optimization\": { \"stage\": 2, \"overlap_comm\": true, \"reduce_bucket_size\": 50000000 } }", language = "json" },
    { action = "In Megatron add --overlap-grad-reduce",
      snippet = "torchrun pretrain_gpt.py --overlap-grad-reduce --use-distributed-optimizer", language = "bash" },
  },
  false_positives = "Models so small that all gradients fit into one bucket.",
  references = { "pytorch/ddp", "pytorch/ddp-design", "deepspeed/zero", "megatron/parallelism" },

  applies = function(f) return f.comm.count > 0, "no communication kernels ran" end,

  detect = function(f, t)
    local serial = f.comm.serial
    local exposed = share(serial.lost.time, f.window.device_time)
    if not at_least(serial.share, t.min_serial) or not at_least(exposed, t.min_share) then return nil end
    return { serial = serial.share, share = exposed, time = serial.lost.time }
  end,

  saving = function(f)
    return { claims = f.comm.serial.lost, remedy = f.comm.serial.remedy, confidence = 0.8,
             basis = "gradient communication beside the backward pass, as far as that is long enough" }
  end,

  tests = {
    { name = "all gradients are reduced after backward, a third of the time",
      facts = { window = { device_time = 3e9 }, comm = { count = 400, serial = { share = 1.0, lost = 9e8, remedy = true } } },
      expect = { serial = 1, share = 0.3, time = 9e8 },
      saving = { claims = 9e8 } },
    { name = "near miss: only the last bucket comes after backward",
      facts = { window = { device_time = 3e9 }, comm = { count = 400, serial = { share = 0.12, lost = 1e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: serial, but over in no time",
      facts = { window = { device_time = 3e9 }, comm = { count = 400, serial = { share = 1.0, lost = 3e7, remedy = true } } },
      expect = "silent" },
    { name = "one GPU",
      facts = { window = { device_time = 1e9 }, comm = { count = 0, serial = { share = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "the backward pass is not known", facts = { window = { device_time = 3e9 }, comm = { count = 400 } },
      expect = "cannot_tell" },
  },
}
