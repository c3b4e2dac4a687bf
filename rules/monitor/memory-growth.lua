-- Memory in use grows by about as much in each part of the log: whatever keeps it never gives it back, and the job ends when it is
-- full. Frameworks that take memory ahead of their needs grow in leaps, and then no more.
return {
  id        = "monitor/memory-growth",
  title     = "Find out what keeps more and more GPU memory",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  knowledge = { "K-C8", "K-O7" },
  effort    = "code",
  observed  = "measured",
  risk      = "out-of-memory",
  priority  = 82,

  needs      = { "monitor.gpus", "monitor.growth.per_hour" },
  optional   = { "monitor.growth.gpu", "monitor.growth.to_full" },
  thresholds = { "max_to_full" },

  symptom = "According to the monitor, memory in use on {gpu:text} grows all the time, by {rate:bytes} per hour.{left_text:text}",
  cause   = "The program keeps data of past steps: results that are collected on the GPU, graphs behind them, caches without a limit, or memory that is never freed.",
  fixes   = {
    { action = "Find out who holds the memory",
      snippet = [[torch.cuda.memory._record_memory_history()
...                                  # a few steps
torch.cuda.memory._dump_snapshot("memory.pickle")    # open at pytorch.org/memory_viz]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Keep values without the graph that computed them",
      snippet = "losses.append(loss.detach())         # instead of: losses.append(loss)", language = "python", ["for"] = { "pytorch", "training" } },
    { action = "In CUDA C++, let compute-sanitizer list allocations that are never freed",
      snippet = "compute-sanitizer --leak-check full ./program", language = "bash", ["for"] = { "c++", "fortran", "openacc", "openmp" } },
  },
  false_positives = "Caches that grow by design, such as a replay buffer, or inputs that become longer and longer.",
  references = { "pytorch/memory-snapshot", "nvidia/smi" },

  applies = function(f) return f.monitor.gpus > 0, "no monitor log was given" end,

  detect = function(f, t)
    local growth = f.monitor.growth
    if not growth.gpu then return nil end
    if growth.to_full and not at_most(growth.to_full, t.max_to_full) then return nil end
    local left = growth.to_full and " At this rate, it is full " .. in_words(growth.to_full, "time") .. " after the end of the log." or ""
    return { gpu = growth.gpu, rate = growth.per_hour, left_text = left }
  end,

  tests = {
    { name = "full within minutes",
      edges = { ["monitor.growth.to_full"] = 6.048e14 },
      facts = { monitor = { gpus = 1, growth = { gpu = "GPU 0", per_hour = 1.8e11, to_full = 3.6e11 } } },
      expect = { gpu = "GPU 0", rate = 1.8e11 } },
    { name = "a GPU whose memory is not known",
      facts = { monitor = { gpus = 1, growth = { gpu = "GPU 0", per_hour = 1e9 } } }, expect = { left_text = "" } },
    { name = "near miss: full in years", facts = { monitor = { gpus = 1, growth = { gpu = "GPU 0", per_hour = 1e5, to_full = 1e17 } } }, expect = "silent" },
    { name = "near miss: nothing grows", facts = { monitor = { gpus = 1, growth = { per_hour = 0 } } }, expect = "silent" },
    { name = "no monitor", facts = { monitor = { gpus = 0, growth = { per_hour = 0 } } }, expect = "not_applicable" },
    { name = "it cannot be seen", facts = { monitor = { gpus = 1 } }, expect = "cannot_tell" },
  },
}
