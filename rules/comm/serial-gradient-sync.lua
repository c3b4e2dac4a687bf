-- Gradient collectives begin only after the last kernel of the backward pass. With overlap only the last bucket does.
return {
  id        = "comm/serial-gradient-sync",
  title     = "Reduce gradients while the backward pass is still running",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 75,
  explains  = { "comm/exposed", "comm/full-link", "step/backward-gaps" },
  knowledge = { "K-B5", "K-B6", "K-K1", "K-K6" },
  effort    = "code",

  loss           = "comm.serial",
  needs          = { "comm.count" },
  optional       = { "launch.waiting.share", "run.kind", "run.framework", "comm.overlap", "comm.kinds" },
  evidence       = { serial = "share", time = "lost.time" },
  thresholds     = { "min_serial", "min_share", "max_waiting", "min_overlap" },

  symptom = "{serial:pct} of the gradient communication starts only after the backward pass. Meanwhile, the GPUs compute nothing for {share:pct} of the time.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "buckets", action = "Make the buckets smaller, so that the last one is: it holds the first layers' gradients, which are ready last",
      snippet = "DistributedDataParallel(model, bucket_cap_mb=10, gradient_as_bucket_view=True)", language = "python", ["for"] = { "pytorch" } },
    { reason = "buckets", action = "Send gradients in smaller groups, so that the last group, which nothing can hide, is small" },
    { reason = "loop", action = "Let DistributedDataParallel reduce gradients in buckets during the backward pass, instead of in a loop over parameters after it",
      snippet = "model = torch.nn.parallel.DistributedDataParallel(\n    model, device_ids=[local_rank], gradient_as_bucket_view=True, bucket_cap_mb=25)",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "loop", action = "With DDP: a bucket as large as the model, or a wrong static_graph or find_unused_parameters, delays the first reduction",
      snippet = "DistributedDataParallel(model, bucket_cap_mb=25, find_unused_parameters=False)", language = "python", ["for"] = { "pytorch" } },
    { reason = "sharded", action = "With FSDP2, shard each layer by itself: its gradients are then reduced as soon as they are ready",
      snippet = "for layer in model.layers: fully_shard(layer)\nfully_shard(model)", language = "python", ["for"] = { "pytorch" } },
    { reason = "!buckets", action = "With DeepSpeed, turn overlap on",
      snippet = "{ \"zero_optimization\": { \"stage\": 2, \"overlap_comm\": true, \"reduce_bucket_size\": 50000000 } }", language = "json", ["for"] = { "deepspeed" } },
    { reason = "!buckets", action = "With Megatron, add --overlap-grad-reduce",
      snippet = "torchrun pretrain_gpt.py --overlap-grad-reduce --use-distributed-optimizer", language = "bash", ["for"] = { "pytorch" } },
    { reason = "!buckets", action = "Let XLA order collectives so that they overlap with the backward pass",
      snippet = "export XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true", language = "bash", ["for"] = { "jax" } },
  },
  false_positives = "Models so small that all gradients fit into one bucket.",
  references = { "pytorch/ddp", "pytorch/ddp-design", "deepspeed/zero", "megatron/parallelism" },

  applies = function(f, t)
    if at_least(f.launch.waiting.share or 0, t.max_waiting) then
      return false, "the host waits for each kernel, so no collective can overlap with one"
    end
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    if f.run.kind == "inference" then return false, "the run trains nothing, so no gradients are sent" end
    -- A solver, too, exchanges its edges or sums its residual when an iteration is done.
    local framework = f.run.framework or ""
    return framework ~= "" or f.run.kind == "training" or f.run.kind == nil, "nothing shows that the run trains a network"
  end,

  detect = function(f, t, e)
    -- Weights that are gathered during the pass say nothing of gradients.
    local others = filter(f.comm.kinds or {}, function(row) return row.kind ~= "allreduce" end)
    local overlaps = #others == 0 and at_least(f.comm.overlap or 0, t.min_overlap)
    local sharded = #filter(others, function(row) return row.kind == "reducescatter" end) > 0
    e.reason = overlaps and "buckets" or sharded and "sharded" or "loop"
    e.why = overlaps and "Part of the gradients is sent during the backward pass. The rest is one large bucket, which is full only when that pass is done."
            or "Gradients are sent only when all of the backward pass is done, although those of the last layers are ready early. Communication and compute run one after the other."
    return e
  end,

  saving = { confidence = 0.8,
             basis = "gradients are reduced during the backward pass, as far as it is long enough" },

  tests = {
    { name = "sums of a tensor-parallel server at the end of each token",
      facts = { window = { device_time = 1e9 }, run = { kind = "inference", framework = "PyTorch" },
                comm = { count = 40, serial = { share = 0.9, lost = 3e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "all gradients are reduced after backward, a third of the time",
      edges = { ["comm.serial.lost"] = 6e7, ["comm.serial.share"] = 0.6 },
      facts = { window = { device_time = 3e9 }, comm = { count = 400, serial = { share = 1.0, lost = 9e8, remedy = true } } },
      expect = { serial = 1, share = 0.3, time = 9e8 },
      saving = { claims = 9e8 } },
    { name = "a solver in C++ meets at a barrier after each iteration",
      facts = { window = { device_time = 3e9 }, run = { kind = "loop", framework = "" },
                comm = { count = 400, serial = { share = 1.0, lost = 9e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "two buckets, of which the larger one is ready last",
      edges = { ["comm.overlap"] = 0.1 },
      facts = { window = { device_time = 3e9 }, comm = { count = 400, overlap = 0.2, serial = { share = 0.8, lost = 9e8, remedy = true } } },
      expect = { reason = "buckets", why = "Part of the gradients is sent during the backward pass. The rest is one large bucket, which is full only when that pass is done." } },
    { name = "what overlaps are weights that are gathered",
      facts = { window = { device_time = 3e9 }, comm = { count = 400, overlap = 0.2, kinds = { { kind = "allgather" }, { kind = "allreduce" } },
                                                         serial = { share = 0.8, lost = 9e8, remedy = true } } },
      expect = { why = "Gradients are sent only when all of the backward pass is done, although those of the last layers are ready early. Communication and compute run one after the other." } },
    { name = "each rank gets its part of the gradients",
      facts = { window = { device_time = 3e9 }, comm = { count = 400, overlap = 0.2, kinds = { { kind = "allgather" }, { kind = "reducescatter" } },
                                                         serial = { share = 0.8, lost = 9e8, remedy = true } } },
      expect = { reason = "sharded" } },
    { name = "near miss: of two buckets of the same size, one comes after backward",
      facts = { window = { device_time = 3e9 }, comm = { count = 400, overlap = 0.49, serial = { share = 0.5, lost = 2e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: only the last bucket comes after backward",
      facts = { window = { device_time = 3e9 }, comm = { count = 400, serial = { share = 0.12, lost = 1e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: serial, but over in no time",
      facts = { window = { device_time = 3e9 }, comm = { count = 400, serial = { share = 1.0, lost = 3e7, remedy = true } } },
      expect = "silent" },
    { name = "each launch waits for its kernel, which leaves nothing to overlap with",
      edges = { ["launch.waiting.share"] = 0.5 },
      facts = { window = { device_time = 3e9 }, launch = { waiting = { share = 1 } },
                comm = { count = 400, serial = { share = 1.0, lost = 9e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "one GPU",
      facts = { window = { device_time = 1e9 }, comm = { count = 0, serial = { share = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "the backward pass is not known", facts = { window = { device_time = 3e9 }, comm = { count = 400 } },
      expect = "cannot_tell" },
  },
}
