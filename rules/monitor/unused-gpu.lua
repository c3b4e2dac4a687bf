-- A GPU of which a process holds memory did nothing while others were at work. GPUs without memory in use may belong to nobody;
-- this one was opened, and not used.
return {
  id        = "monitor/unused-gpu",
  title     = "Use all GPUs that the program holds, or leave them to others",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 30,
  knowledge = { "K-G1", "K-O7" },
  effort    = "flag",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.gpus_idle", "monitor.rows", "monitor.samples" },
  thresholds = { "min_memory", "min_samples" },

  symptom = "{who:text} did nothing while {others:text} at work, although a process held memory there ({memory:bytes}).",
  cause   = "A program made a context on a GPU that it then left alone: fewer processes than GPUs, processes that all use the same GPU, or a job that was given more than it asked for.",
  fixes   = {
    { action = "See which process holds the memory", snippet = "nvidia-smi --query-compute-apps=gpu_bus_id,pid,used_memory,name --format=csv", language = "bash", ["for"] = { "nvidia" } },
    { action = "See which process holds the memory", snippet = "amd-smi process", language = "bash", ["for"] = { "amd" } },
    { action = "Start one process per GPU", snippet = "torchrun --nproc-per-node=gpu train.py", language = "bash", ["for"] = { "pytorch" } },
    { action = "Let each process use the GPU of its local rank", snippet = "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))", language = "python", ["for"] = { "pytorch" } },
    { action = "If you do not need all of them, request fewer GPUs" },
  },
  false_positives = "Another job, a notebook or a desktop that holds memory of that GPU.",
  references = { "nvidia/smi", "pytorch/ddp" },

  applies = function(f)
    if f.monitor.gpus < 2 then return false, "no monitor log of several GPUs was given" end
    return f.monitor.gpus_idle > 0 and f.monitor.gpus_idle < f.monitor.gpus, "no GPU did nothing while others were at work"
  end,

  detect = function(f, t)
    if not at_least(f.monitor.samples, t.min_samples) then return nil end
    local held = filter(f.monitor.rows, function(row) return row.at_work == 0 and at_least(row.memory, t.min_memory) end)
    if #held == 0 then return nil end
    local names, most = {}, 0
    for _, row in ipairs(held) do
      table.insert(names, row.gpu)
      most = math.max(most, row.memory)
    end
    local working = f.monitor.gpus - f.monitor.gpus_idle
    return { who = (#names == 1 and "GPU " or "GPUs ") .. table.concat(names, ", "), memory = most,
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
    { name = "near miss: a little less, as drivers keep it",
      facts = { monitor = { samples = 300, gpus = 2, gpus_idle = 1, rows = { { gpu = "0", at_work = 1, memory = 4e10 }, { gpu = "1", at_work = 0, memory = 1.99e8 } } } }, expect = "silent" },
    { name = "near miss: memory was not logged",
      facts = { monitor = { samples = 300, gpus = 2, gpus_idle = 1, rows = { { gpu = "0", at_work = 1, memory = -1 }, { gpu = "1", at_work = 0, memory = -1 } } } }, expect = "silent" },
    { name = "all are at work", facts = { monitor = { samples = 300, gpus = 2, gpus_idle = 0, rows = {} } }, expect = "not_applicable" },
    { name = "nothing ran", facts = { monitor = { samples = 300, gpus = 2, gpus_idle = 2, rows = {} } }, expect = "not_applicable" },
    { name = "one GPU", facts = { monitor = { samples = 300, gpus = 1, gpus_idle = 0, rows = {} } }, expect = "not_applicable" },
  },
}
