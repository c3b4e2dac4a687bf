-- The optimizer runs on the CPU (offloading): in the backward pass gradients go to the host, the host updates the
-- weights, and these come back before the next forward pass. The GPU waits for both copies and for the update.
-- Recognized by the two ways, which carry as many elements. Where the GPU updates a part, ranges must name the update.
return {
  id        = "step/offloaded-optimizer",
  title     = "Run the optimizer on the GPU, not on the CPU",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 84,
  explains  = { "transfer/round-trip", "transfer/repeated-upload", "transfer/exposed-copy", "transfer/copy-dominates",
                "transfer/pageable-copy", "transfer/blocking-copy", "transfer/low-bandwidth", "sync/host-busy-wait",
                "sync/device-sync-in-loop", "sync/backward-wait", "sync/optimizer-wait",
                "step/idle-optimizer", "host/cpu-bound", "host/blocked", "step/backward-gaps" },
  knowledge = { "K-A3", "K-M4" },

  needs_loop     = true,
  loss           = "copy.offload",
  not_applicable = "no weights are updated on the host",
  evidence       = { "count", "down", "up", "host_time" },
  thresholds     = { "min_share", "min_count" },

  symptom = "The GPU computes nothing for {share:pct} of the time while the CPU updates the weights: {down:bytes} of gradients go to the host for an update, and {up:bytes} of weights come back.",
  cause   = "The optimizer and its states are offloaded to the CPU: the link and the CPU's memory are slower than the GPU's memory, and nothing else runs meanwhile.",
  fixes   = {
    { action  = "Turn offloading off if the states fit on the GPU: in FP32, Adam needs 12 to 16 bytes per parameter",
      snippet = [[# DeepSpeed: no "offload_optimizer" in "zero_optimization"; then DeepSpeed uses its fused Adam
fully_shard(model)                          # FSDP2: no offload_policy=CPUOffloadPolicy()
opt = torch.optim.AdamW(model.parameters(), fused=True)]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "If they do not fit, make them smaller: 8-bit states, adapters (LoRA), or shards over more GPUs",
      snippet = "import bitsandbytes\n\nopt = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=lr)   # 2 bytes per parameter instead of 8",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "If the optimizer must stay on the CPU, update the weights less often (gradient accumulation), and let DeepSpeed keep a part of the update on the GPU (ratio)",
      snippet = [[{ "gradient_accumulation_steps": 8,
  "zero_optimization": { "stage": 3, "offload_optimizer": { "device": "cpu", "pin_memory": true, "ratio": 0.5 } } }]],
      language = "json", ["for"] = { "pytorch", "training" } },
    { action = "Update the weights on the GPU, and keep the states of the optimizer there" },
  },
  false_positives = "Models that are too large for the GPUs at hand: then offloading is what makes the run possible.",
  references = { "pytorch/fsdp", "pytorch/pinned-memory" },

  saving = { confidence = 0.7,
             basis = "the GPU updates the weights, and neither gradients nor weights leave it" },

  tests = {
    { name = "90 MB a layer each way, and 190 ms of updates on the CPU",
      edges = { ["copy.offload.lost"] = 1e7, ["copy.offload.count"] = 3 },
      facts = { window = { device_time = 1e9 },
                copy = { offload = { count = 11, down = 1.8e9, up = 1.8e9, host_time = 1.9e8, lost = 6.7e8, remedy = true } } },
      expect = { share = 0.67, count = 11, down = 1.8e9, up = 1.8e9, host_time = 1.9e8 },
      saving = { claims = 6.7e8, confidence = 0.7 } },
    { name = "near miss: hidden behind other work",
      facts = { window = { device_time = 1e9 },
                copy = { offload = { count = 11, down = 1.8e9, up = 1.8e9, host_time = 1.9e8, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: twice",
      facts = { window = { device_time = 1e9 },
                copy = { offload = { count = 2, down = 1.8e9, up = 1.8e9, host_time = 1.9e8, lost = 6.7e8, remedy = true } } },
      expect = "silent" },
    { name = "the GPU updates the weights",
      facts = { window = { device_time = 1e9 },
                copy = { offload = { count = 0, down = 0, up = 0, host_time = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
