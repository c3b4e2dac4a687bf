-- Some GPUs are in use by far less than the others, all the time. The mean over all is then true of none of them.
return {
  id        = "monitor/uneven-use",
  title     = "Find out why some GPUs are used less than the others",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  explains  = { "monitor/low-utilisation" },
  knowledge = { "K-C1", "K-O6" },
  effort    = "code",
  observed  = "measured",
  priority  = 35,

  needs      = { "monitor.gpus", "monitor.samples", "monitor.split.low", "monitor.split.high" },
  optional   = { "monitor.split.low_gpus", "monitor.split.high_gpus" },
  thresholds = { "max_low", "min_samples" },

  symptom = "According to the monitor, {high_gpus:text} in use for {high:pct} of the time, and {low_gpus:text} for {low:pct}.",
  cause   = "The work is not shared evenly, or these GPUs wait for something that the others do not: slower input, a later stage of a pipeline, fewer requests. Where the ranks wait for each other, the fuller GPUs may only spin.",
  fixes   = {
    { action = "See which process runs on each GPU: two different jobs may differ in use", snippet = "nvidia-smi --query-compute-apps=gpu_bus_id,pid,used_memory,name --format=csv", language = "bash", ["for"] = { "nvidia" } },
    { action = "See which process runs on each GPU: two different jobs may differ in use", snippet = "amd-smi process", language = "bash", ["for"] = { "amd" } },
    { action = "Capture a timeline of one GPU of each group: advise compares the ranks",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --gpu-metrics-devices=all --duration=60 -o run -- COMMAND\nadvise run.nsys-rep", language = "bash", ["for"] = { "nvidia" } },
    { action = "Redistribute the work: equal batches, stages of equal length, a router that looks at the load" },
  },
  false_positives = "Different jobs, or different models of one server, on one node.",
  references = { "nvidia/smi" },

  applies = function(f) return f.monitor.gpus > 1, "no monitor log of several GPUs was given" end,

  detect = function(f, t)
    local split = f.monitor.split
    if not split.low_gpus or not split.high_gpus then return nil end
    if not at_least(f.monitor.samples, t.min_samples) or not at_most(split.low, t.max_low) then return nil end
    return { high_gpus = split.high_gpus .. (starts_with(split.high_gpus, "GPUs") and " were" or " was"), low_gpus = split.low_gpus, low = split.low, high = split.high }
  end,

  tests = {
    { name = "half of the node at 40 percent", edges = { ["monitor.samples"] = 20, ["monitor.split.low"] = 0.8 },
      facts = { monitor = { gpus = 4, samples = 300, split = { low_gpus = "GPUs 2 and 3", high_gpus = "GPUs 0 and 1", low = 0.4, high = 0.98 } } },
      expect = { low_gpus = "GPUs 2 and 3", high_gpus = "GPUs 0 and 1 were", low = 0.4, high = 0.98 } },
    { name = "near miss: all alike", facts = { monitor = { gpus = 4, samples = 300, split = { low = 0, high = 0 } } }, expect = "silent" },
    { name = "one GPU", facts = { monitor = { gpus = 1, samples = 300, split = { low = 0, high = 0 } } }, expect = "not_applicable" },
    { name = "no use in the log", facts = { monitor = { gpus = 4, samples = 300 } }, expect = "cannot_tell" },
  },
}
