-- A GPU did nothing while others were at work. Where a process holds memory of it, it was opened and not used. Without a process it is
-- free, which is worth a word where only a few of the node are: the job could have it, and no job that takes an equal part fits there.
return {
  id        = "monitor/unused-gpu",
  title     = "Use the idle GPUs, or leave them to others",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 30,
  knowledge = { "K-G1", "K-O7" },
  effort    = "flag",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.gpus_idle", "monitor.rows", "monitor.samples" },
  thresholds = { "min_memory", "min_samples", "max_idle" },

  symptom = "{who:text} did nothing while {others:text} at work{memory_text:text}.",
  cause   = "There are fewer processes than GPUs, processes share a GPU, or the job was given more GPUs than it uses. Where a process holds memory of an idle GPU, it made a context there and left it alone.",
  fixes   = {
    { reason = "held", action = "See which process holds the memory", snippet = "nvidia-smi --query-compute-apps=gpu_bus_id,pid,used_memory,name --format=csv", language = "bash", ["for"] = { "nvidia" } },
    { reason = "held", action = "See which process holds the memory", snippet = "amd-smi process", language = "bash", ["for"] = { "amd" } },
    { reason = "instance", action = "Give it a job, or split the board again, so that the other instances get its part",
      snippet = "nvidia-smi mig -lgi\nnvidia-smi mig -lgip     # which splits are possible", language = "bash", ["for"] = { "nvidia" } },
    { reason = "!instance", action = "Start one process per GPU", snippet = "torchrun --nproc-per-node=gpu train.py", language = "bash", ["for"] = { "pytorch" } },
    { reason = "!instance", action = "Let each process use the GPU of its local rank", snippet = "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))", language = "python", ["for"] = { "pytorch" } },
    { reason = "!instance", action = "If you do not need all of them, request fewer GPUs" },
  },
  false_positives = "Another job, a notebook or a desktop that holds memory of that GPU. A free GPU that the batch system keeps for others.",
  references = { "nvidia/smi", "pytorch/ddp" },

  applies = function(f)
    if f.monitor.gpus < 2 then return false, "no monitor log of several GPUs was given" end
    return f.monitor.gpus_idle > 0 and f.monitor.gpus_idle < f.monitor.gpus, "no GPU did nothing while others were at work"
  end,

  detect = function(f, t)
    if not at_least(f.monitor.samples, t.min_samples) then return nil end
    local idle = filter(f.monitor.rows, function(row) return row.at_work == 0 end)
    local held = filter(idle, function(row) return at_least(row.memory, t.min_memory) end)
    local free = #held == 0
    -- An instance of MIG keeps its part of the board from the others, whether memory was logged or not.
    local instances = filter(idle, function(row) return contains(row.gpu, "instance ") end)
    if #instances > 0 then
      local names = {}
      for _, row in ipairs(instances) do table.insert(names, row.gpu) end
      local working = f.monitor.gpus - f.monitor.gpus_idle
      return { who = (#names == 1 and "GPU " or "GPUs ") .. table.concat(names, ", "), memory = -1, reason = "instance",
               memory_text = ", and the other instances cannot use its part of the board", others = working == 1 and "one other was" or in_words(working, "count") .. " others were" }
    end
    if free and not at_most(share(#idle, f.monitor.gpus), t.max_idle) then return nil end
    local names, most = {}, -1
    for _, row in ipairs(free and idle or held) do
      table.insert(names, row.gpu)
      most = math.max(most, row.memory)
    end
    if #names == 0 or (free and most < 0) then return nil end
    local working = f.monitor.gpus - f.monitor.gpus_idle
    return { who = (#names == 1 and "GPU " or "GPUs ") .. table.concat(names, ", "), memory = most, reason = free and "free" or "held",
             memory_text = free and ", and no process held memory there" or ", although a process held memory there (" .. in_words(most, "bytes") .. ")",
             others = working == 1 and "one GPU was" or in_words(working, "count") .. " GPUs were" }
  end,

  tests = {
    { name = "one of four holds a context only", edges = { ["monitor.samples"] = 20 },
      facts = { monitor = { samples = 300, gpus = 4, gpus_idle = 1, rows = { { gpu = "0", at_work = 1, memory = 4e10 }, { gpu = "3", at_work = 0, memory = 4.5e8 } } } },
      expect = { who = "GPU 3", others = "3 GPUs were", memory = 4.5e8 } },
    { name = "two are held",
      facts = { monitor = { samples = 300, gpus = 3, gpus_idle = 2, rows = { { gpu = "0", at_work = 1, memory = 4e10 }, { gpu = "1", at_work = 0, memory = 3e8 }, { gpu = "2", at_work = 0, memory = 5e8 } } } },
      expect = { who = "GPUs 1, 2", others = "one GPU was", memory = 5e8 } },
    { name = "just enough for a context",
      facts = { monitor = { samples = 300, gpus = 2, gpus_idle = 1, rows = { { gpu = "0", at_work = 1, memory = 4e10 }, { gpu = "1", at_work = 0, memory = 2e8 } } } },
      expect = { memory = 2e8 } },
    { name = "one of eight belongs to nobody", edges = { ["monitor.gpus"] = 2.5 },
      facts = { monitor = { samples = 300, gpus = 8, gpus_idle = 1, rows = { { gpu = "0", at_work = 1, memory = 7e10 }, { gpu = "5", at_work = 0, memory = 4e6 } } } },
      expect = { who = "GPU 5", others = "7 GPUs were", reason = "free" } },
    { name = "an instance of MIG",
      facts = { monitor = { samples = 60, gpus = 3, gpus_idle = 1, rows = { { gpu = "0 instance 1", at_work = 1, memory = -1 }, { gpu = "0 instance 2", at_work = 1, memory = -1 }, { gpu = "0 instance 3", at_work = 0, memory = -1 } } } },
      expect = { who = "GPU 0 instance 3", reason = "instance", others = "2 others were" } },
    { name = "near miss: a little less, as drivers keep it, on half of the GPUs",
      facts = { monitor = { samples = 300, gpus = 2, gpus_idle = 1, rows = { { gpu = "0", at_work = 1, memory = 4e10 }, { gpu = "1", at_work = 0, memory = 1.99e8 } } } }, expect = "silent" },
    { name = "near miss: memory was not logged",
      facts = { monitor = { samples = 300, gpus = 2, gpus_idle = 1, rows = { { gpu = "0", at_work = 1, memory = -1 }, { gpu = "1", at_work = 0, memory = -1 } } } }, expect = "silent" },
    { name = "all are at work", facts = { monitor = { samples = 300, gpus = 2, gpus_idle = 0, rows = {} } }, expect = "not_applicable" },
    { name = "nothing ran", facts = { monitor = { samples = 300, gpus = 2, gpus_idle = 2, rows = {} } }, expect = "not_applicable" },
    { name = "one GPU", facts = { monitor = { samples = 300, gpus = 1, gpus_idle = 0, rows = {} } }, expect = "not_applicable" },
  },
}
