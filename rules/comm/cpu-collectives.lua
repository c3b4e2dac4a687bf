-- Collectives on the CPU (Gloo) on the thread that feeds the GPU: tensors go to the host, over sockets and back.
return {
  id        = "comm/cpu-collectives",
  title     = "Use NCCL instead of Gloo for tensors on the GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 76,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-C2", "K-J7" },

  needs_loop = true,
  loss       = "ranges.gloo",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "{count:count} collectives {per:text} run on the CPU while the GPU waits: {share:pct} of the GPU time.",
  cause   = "The process group uses Gloo, or the tensors are in host memory.",
  fixes   = {
    { action  = "Use NCCL for tensors on the GPU",
      snippet = [[dist.init_process_group("nccl")            # or "cpu:gloo,cuda:nccl"]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Keep Gloo for small control messages, every N steps" },
  },
  false_positives = "Barriers at the end of an epoch.",
  references = { "nccl/collectives", "pytorch/ddp" },

  saving = { confidence = 0.65, basis = "no collectives run on the CPU in the loop" },

  tests = {
    { name = "gradients go through Gloo",
      facts = { window = { device_time = 1e9 }, ranges = { gloo = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: beside the GPU's work",
      facts = { window = { device_time = 1e9 }, ranges = { gloo = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, ranges = { gloo = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no collectives run on the CPU",
      facts = { window = { device_time = 1e9 }, ranges = { gloo = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
