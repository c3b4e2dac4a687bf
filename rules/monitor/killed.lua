-- The kernel ended a program because the host's memory was full. A data loader that loses a worker so waits for ever, or fails later.
return {
  id        = "monitor/killed",
  title     = "Use less host memory: Linux killed a program when it ran out",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  knowledge = { "K-O7" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "out-of-memory",
  priority  = 70,

  needs      = { "monitor.gpus" },
  optional   = { "monitor.killed.count", "monitor.killed.name" },
  thresholds = { "min_count" },

  symptom = "According to the Linux kernel log, {name:text} was killed because host memory was full (programs killed in all: {count:count}).",
  cause   = "The host, or the job's share of it, had no memory left. Workers of a data loader are often the first to be killed. The program that waits for them then hangs or fails.",
  fixes   = {
    { action = "Start fewer workers, and let each fetch fewer batches ahead", snippet = "DataLoader(dataset, num_workers=4, prefetch_factor=2)", language = "python", ["for"] = { "pytorch" } },
    { action = "Ask for more memory for the job", snippet = "#SBATCH --mem=128G", language = "bash" },
    { action = "Keep data sets in memory-mapped files that all workers share, instead of a copy in each worker" },
  },
  false_positives = "Another user's program on a shared node.",
  references = { "pytorch/dataloader-workers" },

  applies = function(f) return f.monitor.killed.count ~= nil, "no Linux kernel log was given" end,

  detect = function(f, t)
    if not at_least(f.monitor.killed.count, t.min_count) then return nil end
    return { name = f.monitor.killed.name or "a program", count = f.monitor.killed.count }
  end,

  tests = {
    { name = "two workers", edges = { ["monitor.killed.count"] = 1 }, facts = { monitor = { gpus = 0, killed = { count = 2, name = "python" } } }, expect = { name = "python", count = 2 } },
    { name = "near miss: none", facts = { monitor = { gpus = 0, killed = { count = 0 } } }, expect = "silent" },
    { name = "no log of the kernel", facts = { monitor = { gpus = 2, killed = {} } }, expect = "not_applicable" },
  },
}
