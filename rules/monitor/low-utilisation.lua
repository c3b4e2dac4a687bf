-- The monitor's own count of busy time is low. It says that there is something to look for, never what.
-- Only the time between the first and the last sample with activity counts, and only GPUs that did something.
return {
  id        = "monitor/low-utilisation",
  title     = "Find out why the GPU is used so little",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  knowledge = { "K-C1", "K-O6", "K-F1" },
  effort    = "flag",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.utilization", "monitor.below", "monitor.samples", "monitor.rows" },
  optional   = { "monitor.worst.gpu", "monitor.worst.utilization", "monitor.gpus_idle" },
  thresholds = { "max_mean", "min_samples" },

  symptom = "According to the monitor, the {gpus:text} in use for {mean:pct} of the time from the first sample with activity to the last{lowest_text:text}.",
  cause   = "Usually the host is the reason: it loads data, launches kernels too slowly, or waits for other ranks. A monitor counts a moment as busy if any kernel runs, so the real use is even lower.",
  fixes   = {
    { action = "Capture a timeline of a few steps: it shows what the GPU waits for",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --gpu-metrics-devices=all --duration=60 -o run -- COMMAND\nadvise run.nsys-rep",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Capture a timeline of a few steps: it shows what the GPU waits for",
      snippet = "rocprofv3 --runtime-trace --output-format json -o run -- COMMAND\nadvise run_results.json", language = "bash", ["for"] = { "amd" } },
    { action = "If it is a training job of PyTorch, try more loader workers and pinned memory before that: slow loading is the usual cause",
      snippet = "loader = DataLoader(dataset, batch_size=B, num_workers=8, pin_memory=True, persistent_workers=True)", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "A log of phases that are not the job: set-up between two runs, evaluation on the host, an interactive session.",
  references = { "nvidia/smi", "pytorch/dataloader-workers" },

  applies = function(f) return f.monitor.gpus > 0, "no monitor log was given" end,

  detect = function(f, t)
    if not at_least(f.monitor.samples, t.min_samples) then return nil end
    if not at_most(f.monitor.utilization, t.max_mean) then return nil end
    local lowest = f.monitor.worst.utilization or f.monitor.utilization
    local lowest_text = #f.monitor.rows > 1 and
                        "; the lowest is " .. (f.monitor.worst.gpu or "a GPU") .. " with " .. in_words(lowest, "pct") or ""
    return { gpus = #f.monitor.rows > 1 and "GPUs were" or "GPU was", lowest_text = lowest_text, mean = f.monitor.utilization, below = f.monitor.below, worst = f.monitor.worst.gpu or "GPU",
             lowest = lowest, idle = f.monitor.gpus_idle,
             rows = top(f.monitor.rows, "utilization", 8) }
  end,

  tests = {
    { name = "a GPU that is in use a third of the time",
      edges = { ["monitor.samples"] = 20, ["monitor.utilization"] = 0.8 },
      facts = { monitor = { gpus = 1, utilization = 0.33, below = 0.9, samples = 600, worst = { gpu = "GPU 0", utilization = 0.33 },
                            rows = { { gpu = "0", utilization = 0.33 } } } },
      expect = { gpus = "GPU was", lowest_text = "", mean = 0.33, below = 0.9, worst = "GPU 0", lowest = 0.33, rows = 1 } },
    { name = "near miss: busy nearly all of the time",
      facts = { monitor = { gpus = 1, utilization = 0.93, below = 0.1, samples = 600, rows = { { gpu = "0", utilization = 0.93 } } } },
      expect = "silent" },
    { name = "near miss: a handful of samples says nothing",
      facts = { monitor = { gpus = 1, utilization = 0.33, below = 1, samples = 4, rows = { { gpu = "0", utilization = 0.33 } } } },
      expect = "silent" },
    { name = "no monitor", facts = { monitor = { gpus = 0 } }, expect = "not_applicable" },
    { name = "the log holds power only", facts = { monitor = { gpus = 1, samples = 600, rows = {} } }, expect = "cannot_tell" },
  },
}
