-- Workers load the data, they are busy all the time, and the launching thread still waits for them: together they
-- deliver batches more slowly than the GPU uses them up. More of them help as long as cores are free.
-- Workers that rest while the GPU waits are another matter (input/no-prefetch, input/starved).
return {
  id        = "input/too-few-workers",
  title     = "Use more data-loader workers",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 70,
  explains  = { "input/starved", "host/cpu-bound", "step/outlier" },
  knowledge = { "K-B1", "K-H4" },

  needs      = { "window.device_time", "input.lost", "input.own", "input.waiting", "input.workers", "input.remedy" },
  optional   = { "input.workers_busy", "input.steps_affected", "steps.count", "run.cpu_cores", "input.loader" },
  thresholds = { "min_share", "min_busy", "min_steps" },

  symptom = "The GPU is idle for {share:pct} of the time while the launching thread waits for {who:text}{busy_text:text}.",
  cause   = "Together, the workers deliver batches more slowly than the GPU consumes them.",
  fixes   = {
    { action  = "Raise the number of workers step by step, up to the CPU cores of the job",
      snippet = [[loader = DataLoader(dataset, batch_size=B, num_workers=16, prefetch_factor=4,
                    persistent_workers=True, pin_memory=True)]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Make each batch cheaper: decode and resize once beforehand, use a faster decoder, or store a smaller format" },
    { action = "Move decoding and augmentation to the GPU with NVIDIA DALI", ["for"] = { "pytorch", "tensorflow", "jax", "python" } },
    { action  = "If the job has few cores, ask the scheduler for more cores per GPU",
      snippet = "#SBATCH --cpus-per-task=16", language = "bash" },
  },
  false_positives = "Workers that wait for slow storage count as busy. The rule input/storage-bound covers that case.",
  references = { "pytorch/dataloader-workers", "nvidia/dali" },

  applies = function(f) return f.input.workers >= 1 or f.input.loader == "workers", "no loader workers were seen" end,

  detect = function(f, t)
    local lost = share(f.input.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.input.waiting, f.input.own) then return nil end
    if f.steps.count and f.input.steps_affected and not at_least(f.input.steps_affected, t.min_steps) then return nil end
    local busy = f.input.workers_busy
    if busy and not at_least(busy, t.min_busy) then return nil end
    if f.run.cpu_cores and not at_most(f.input.workers, f.run.cpu_cores) then return nil end
    local who = "the workers of the data loader"
    if f.input.workers >= 1 then who = f.input.workers < 2 and "the only loader worker" or math.floor(f.input.workers) .. " loader workers" end
    return { share = lost, workers = f.input.workers, who = who, busy = busy, cores = f.run.cpu_cores,
             busy_text = busy and " (busy nearly all the time)" or " (what they do meanwhile was not recorded)" }
  end,

  saving = function(f)
    return { claims = f.input.lost, remedy = f.input.remedy, confidence = f.input.workers_busy and 0.85 or 0.6,
             basis = "more workers on this host's cores keep up with the GPU, as far as they can" }
  end,

  tests = {
    { name = "two workers are busy all the time and the GPU waits",
      edges = { ["input.lost"] = 2e6, ["input.steps_affected"] = 0.2, ["input.workers_busy"] = 0.6 },
      facts = { window = { device_time = 2e9 }, run = { cpu_cores = 32 }, steps = { count = 20 },
                input = { lost = 8e8, own = 0, waiting = 7.5e8, workers = 2, workers_busy = 0.98, steps_affected = 0.9,
                          remedy = true } },
      expect = { share = 0.4, workers = 2, who = "2 loader workers", busy = 0.98, busy_text = " (busy nearly all the time)" },
      saving = { claims = 8e8, confidence = 0.85 } },
    { name = "what the workers do was not recorded",
      facts = { window = { device_time = 1e9 },
                input = { lost = 2e8, own = 1e7, waiting = 1.8e8, workers = 4, remedy = true } },
      expect = { share = 0.2, busy_text = " (what they do meanwhile was not recorded)" }, saving = { confidence = 0.6 } },
    { name = "only the name of the loader says that there are workers",
      facts = { window = { device_time = 1e9 },
                input = { lost = 2e8, own = 0, waiting = 2e8, workers = 0, loader = "workers", remedy = true } },
      expect = { share = 0.2, who = "the workers of the data loader" }, saving = { confidence = 0.6 } },
    { name = "near miss: workers are busy, the GPU never waits",
      facts = { window = { device_time = 1e9 },
                input = { lost = 5e5, own = 0, waiting = 5e5, workers = 2, workers_busy = 0.95, remedy = true } },
      expect = "silent" },
    { name = "near miss: the workers rest while the GPU waits",
      facts = { window = { device_time = 1e9 },
                input = { lost = 3e8, own = 0, waiting = 3e8, workers = 4, workers_busy = 0.2, remedy = true } },
      expect = "silent" },
    { name = "near miss: more workers than cores",
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 8 },
                input = { lost = 3e8, own = 0, waiting = 3e8, workers = 16, workers_busy = 0.9, remedy = true } },
      expect = "silent" },
    { name = "no workers",
      facts = { window = { device_time = 1e9 },
                input = { lost = 5e8, own = 5e8, waiting = 0, workers = 0, remedy = true } },
      expect = "not_applicable" },
    { name = "loading cannot be seen", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
