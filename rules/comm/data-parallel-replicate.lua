-- torch.nn.DataParallel: one process drives several GPUs, copies the model to all of them in every step and collects gradients.
return {
  id        = "comm/data-parallel-replicate",
  title     = "Use DistributedDataParallel with one process per GPU",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 76,
  explains  = { "comm/exposed", "comm/full-link", "comm/small-messages", "launch/bound", "rank/compute-imbalance" },
  knowledge = { "K-H16" },
  effort    = "code",

  loss       = "comm.replicate",
  evidence   = { "devices", "broadcasts", "reduces" },
  thresholds = { "min_broadcasts", "min_reduces", "min_share" },

  symptom = "One process drives {devices:count} GPUs, with {broadcasts:count} broadcasts and {reduces:count} reduces {per:text}. For {share:pct} of the time, nothing else runs.",
  cause   = "In each step, DataParallel sends the whole model from the first GPU to the others, and gathers outputs and gradients there. One Python process launches everything.",
  fixes   = {
    { action = "Start one process per GPU, and wrap the model",
      snippet = "dist.init_process_group(\"nccl\")\nrank = int(os.environ[\"LOCAL_RANK\"]); torch.cuda.set_device(rank)\nmodel = DistributedDataParallel(model.to(rank), device_ids=[rank])\n# torchrun --nproc-per-node=gpu train.py",
      language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Programs other than PyTorch that broadcast new data, not weights, from one GPU.",
  references = { "pytorch/ddp", "pytorch/tuning-guide" },

  applies = function(f) return f.comm.replicate.devices > 1, "each process drives one GPU" end,

  saving = { confidence = 0.6,
             basis = "an overlapped all-reduce replaces the broadcasts, reduces and copies between GPUs" },

  tests = {
    { name = "four GPUs, one process, the model broadcast in each step",
      edges = { ["comm.replicate.broadcasts"] = 1, ["comm.replicate.lost"] = 8e7, ["comm.replicate.reduces"] = 1 },
      facts = { window = { device_time = 4e9 },
                comm = { replicate = { devices = 4, broadcasts = 12, reduces = 6, lost = 1.2e9, remedy = true } } },
      expect = { devices = 4, broadcasts = 12, reduces = 6, share = 0.3 }, saving = { claims = 1.2e9 } },
    { name = "near miss: one process and all-reduces only (a JAX program)",
      facts = { window = { device_time = 4e9 },
                comm = { replicate = { devices = 4, broadcasts = 0, reduces = 0, lost = 0, remedy = true } } },
      expect = "silent" },
    { name = "near miss: a broadcast now and then",
      facts = { window = { device_time = 4e9 },
                comm = { replicate = { devices = 4, broadcasts = 1, reduces = 1, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "a process a GPU", facts = { comm = { replicate = { devices = 1 } } }, expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
