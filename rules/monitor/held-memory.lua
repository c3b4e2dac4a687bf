-- A process holds memory, and no GPU does anything in the whole log: a hung job, a forgotten notebook, a server without requests.
return {
  id        = "monitor/held-memory",
  title     = "Find the process that holds memory of idle GPUs",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 45,
  knowledge = { "K-O7" },
  effort    = "flag",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.gpus_idle", "monitor.rows", "monitor.samples" },
  thresholds = { "min_memory", "min_samples" },

  symptom = "No GPU did anything while the log was written, but a process held {memory:bytes} of memory on {who:text}.",
  cause   = "A job hangs, or a program with nothing to do was left running: a notebook, a debugger, a server without requests.",
  fixes   = {
    { action = "See which process holds the memory", snippet = "nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_gpu_memory --format=csv", language = "bash", ["for"] = { "nvidia" } },
    { action = "See which process holds the memory", snippet = "amd-smi process", language = "bash", ["for"] = { "amd" } },
    { action = "If it is a job, see where it stands before you end it", snippet = "py-spy dump --pid PID", language = "bash", ["for"] = { "python" } },
  },
  false_positives = "A phase of the job on the host, such as loading or saving, that took as long as the log.",
  references = { "nvidia/smi" },

  applies = function(f)
    if f.monitor.gpus == 0 then return false, "no monitor log was given" end
    return f.monitor.gpus_idle == f.monitor.gpus, "GPUs were at work"
  end,

  detect = function(f, t)
    if not at_least(f.monitor.samples, t.min_samples) then return nil end
    local held = filter(f.monitor.rows, function(row) return at_least(row.memory, t.min_memory) end)
    if #held == 0 then return nil end
    local names, most = {}, 0
    for _, row in ipairs(held) do
      table.insert(names, row.gpu)
      most = math.max(most, row.memory)
    end
    return { who = (#names == 1 and "GPU " or "GPUs ") .. table.concat(names, ", "), memory = most }
  end,

  tests = {
    { name = "65 GB for nothing", edges = { ["monitor.samples"] = 20, ["monitor.rows[1].memory"] = 1e9 },
      facts = { monitor = { gpus = 1, gpus_idle = 1, samples = 60, rows = { { gpu = "0", at_work = 0, memory = 6.8e10 } } } }, expect = { who = "GPU 0", memory = 6.8e10 } },
    { name = "near miss: what the driver keeps", facts = { monitor = { gpus = 1, gpus_idle = 1, samples = 60, rows = { { gpu = "0", at_work = 0, memory = 4e8 } } } }, expect = "silent" },
    { name = "near miss: memory was not logged", facts = { monitor = { gpus = 1, gpus_idle = 1, samples = 60, rows = { { gpu = "0", at_work = 0, memory = -1 } } } }, expect = "silent" },
    { name = "near miss: a pause", facts = { monitor = { gpus = 1, gpus_idle = 1, samples = 5, rows = { { gpu = "0", at_work = 0, memory = 6.8e10 } } } }, expect = "silent" },
    { name = "at work", facts = { monitor = { gpus = 2, gpus_idle = 1, samples = 60, rows = {} } }, expect = "not_applicable" },
    { name = "no monitor", facts = { monitor = { gpus = 0, gpus_idle = 0, samples = 0, rows = {} } }, expect = "not_applicable" },
  },
}
