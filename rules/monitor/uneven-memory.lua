-- One GPU is nearly full, and all others of the job use far less: other ranks put data there, or one rank gathers what all have. It
-- limits the batch of all of them.
return {
  id        = "monitor/uneven-memory",
  title     = "Find out why one GPU uses far more memory than the others",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 45,
  explains  = { "monitor/memory-full", "monitor/memory-headroom" },
  knowledge = { "K-O7", "K-K15" },
  effort    = "code",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.rows" },
  optional   = { "monitor.memory.capacity" },
  thresholds = { "min_gpus", "min_ratio", "min_use" },

  symptom = "GPU {gpu:text} uses {memory:bytes} of its {capacity:bytes} of memory, the {others:count} others at most {next:bytes}.",
  cause   = "Other ranks also allocate on this GPU, or its rank gathers data of all ranks. The fullest GPU limits the batch of all.",
  fixes   = {
    { action = "See whether processes of other ranks hold memory there", snippet = "nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory --format=csv", language = "bash", ["for"] = { "nvidia" } },
    { action = "Let each rank choose its GPU before it allocates anything, and load checkpoints to the host",
      snippet = "torch.cuda.set_device(local_rank)\nstate = torch.load(path, map_location=\"cpu\")", language = "python", ["for"] = { "pytorch" } },
    { action = "Gather results on the host, or one part at a time" },
  },
  false_positives = "Stages of a pipeline, of which one holds the embedding. Different jobs on the GPUs.",
  references = { "nvidia/smi", "pytorch/ddp" },

  applies = function(f)
    return f.monitor.gpus > 1, "no monitor log of several GPUs was given"
  end,

  detect = function(f, t)
    if not at_least(f.monitor.gpus, t.min_gpus) or not f.monitor.memory.capacity then return nil end
    local most = top(f.monitor.rows, "memory", 2)
    local idle = filter(f.monitor.rows, function(row) return row.at_work == 0 end)
    if #idle > 0 or most[2].memory <= 0 then return nil end
    if not at_least(most[1].memory / most[2].memory, t.min_ratio) then return nil end
    if not at_least(share(most[1].memory, f.monitor.memory.capacity), t.min_use) then return nil end
    return { gpu = most[1].gpu, memory = most[1].memory, capacity = f.monitor.memory.capacity, others = f.monitor.gpus - 1, next = most[2].memory }
  end,

  tests = {
    { name = "GPU 0 is full", edges = { ["monitor.rows[1].memory"] = 6.3e10, ["monitor.gpus"] = 3 },
      facts = { monitor = { gpus = 3, memory = { capacity = 8.5e10 }, rows = { { gpu = "0", at_work = 1, memory = 8.49e10 }, { gpu = "1", at_work = 1, memory = 4.2e10 }, { gpu = "2", at_work = 1, memory = 4.1e10 } } } },
      expect = { gpu = "0", others = 2, next = 4.2e10 } },
    { name = "two thirds of it, and the others a quarter", edges = { ["monitor.rows[1].memory"] = 5.95e10 },
      facts = { monitor = { gpus = 3, memory = { capacity = 8.5e10 }, rows = { { gpu = "0", at_work = 1, memory = 6.2e10 }, { gpu = "1", at_work = 1, memory = 2e10 }, { gpu = "2", at_work = 1, memory = 2e10 } } } },
      expect = { gpu = "0", next = 2e10 } },
    { name = "near miss: a tenth more", facts = { monitor = { gpus = 3, memory = { capacity = 8.5e10 }, rows = { { gpu = "0", at_work = 1, memory = 7e10 }, { gpu = "1", at_work = 1, memory = 6.4e10 }, { gpu = "2", at_work = 1, memory = 6.4e10 } } } }, expect = "silent" },
    { name = "near miss: others do nothing", facts = { monitor = { gpus = 3, memory = { capacity = 8.5e10 }, rows = { { gpu = "0", at_work = 1, memory = 8e10 }, { gpu = "1", at_work = 0, memory = 5e8 }, { gpu = "2", at_work = 0, memory = 5e8 } } } }, expect = "silent" },
    { name = "near miss: room on all", facts = { monitor = { gpus = 3, memory = { capacity = 8.5e10 }, rows = { { gpu = "0", at_work = 1, memory = 3e10 }, { gpu = "1", at_work = 1, memory = 1e10 }, { gpu = "2", at_work = 1, memory = 1e10 } } } }, expect = "silent" },
    { name = "one GPU", facts = { monitor = { gpus = 1, rows = {}, memory = {} } }, expect = "not_applicable" },
  },
}
