-- The update of the weights is already one pass over them in a few kernels, and still takes a large part of the step: it reads
-- and writes all weights and states, however little a step computes. Usual are a few percent.
return {
  id        = "step/update-heavy",
  title     = "Update the weights less often, or fewer of them",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 54,
  explains  = { "kernel/hot", "step/low-mfu", "kernel/memory-bound" },
  knowledge = { "K-H6", "K-A7" },

  needs_loop     = true,
  loss           = "family.fused_optimizer",
  not_applicable = "no fused optimizer was seen",
  evidence       = { count = "per_step" },
  thresholds     = { "min_share" },

  symptom = "The update of the weights takes {share:pct} of the time: {count:num} kernels {per:text}. A few percent is normal.",
  cause   = "An update reads and writes all weights and all states of the optimizer, whether the step computed much for them or little: a small batch, or a large table of which a step uses few rows.",
  fixes   = {
    { action  = "If large embedding tables are among the weights, give them sparse gradients, so that an update touches the rows that were used",
      snippet = "table = nn.Embedding(rows, dim, sparse=True)\nopt = torch.optim.SparseAdam(list(table.parameters()))   # the other weights keep their optimizer",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Use more samples for each update: a larger batch, or gradients of several batches",
      snippet = [[(loss_fn(model(x), y) / 4).backward()
if step % 4 == 3:
    optimizer.step(); optimizer.zero_grad(set_to_none=True)]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Make weights and states smaller: 8-bit states, or adapters (LoRA), so that few weights are trained",
      snippet = "import bitsandbytes\n\nopt = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=lr)   # 2 bytes per parameter instead of 8",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "With several GPUs, divide the states among them (ZeRO, FSDP): each then updates its part" },
  },
  false_positives = "Training whose batch must stay small. A test with a few samples.",
  references = { "pytorch/optimizer-implementations" },

  saving = { remedy = "halved", confidence = 0.4, basis = "half of the time of the update is gone" },

  tests = {
    { name = "a dense table of 5 GB",
      edges = { ["family.fused_optimizer.lost"] = 4e8 },
      facts = { window = { device_time = 1e9 }, family = { fused_optimizer = { per_step = 1, lost = 6.4e8, halved = true } } },
      expect = { share = 0.64, count = 1 },
      saving = { claims = 6.4e8, confidence = 0.4 } },
    { name = "near miss: a usual update",
      facts = { window = { device_time = 1e9 }, family = { fused_optimizer = { per_step = 4, lost = 8e7, halved = true } } },
      expect = "silent" },
    { name = "no fused optimizer",
      facts = { window = { device_time = 1e9 }, family = { fused_optimizer = { per_step = 0, lost = 0, halved = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
