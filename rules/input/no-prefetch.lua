-- Somebody else does load the data, but begins only when the program asks for it: loading and computing take turns.
-- Two signals: the loader rests from one batch until the program waits for the next, in nearly every step.
return {
  id        = "input/no-prefetch",
  title     = "Load the next batch while the current one computes",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 71,
  explains  = { "input/starved", "input/too-few-workers", "host/cpu-bound" },
  knowledge = { "K-H4", "K-H5" },

  needs      = { "window.device_time", "input.lost", "input.background", "input.on_demand", "input.remedy" },
  optional   = { "input.workers_busy", "input.steps_affected", "steps.count", "input.load.median" },
  thresholds = { "min_share", "min_on_demand", "min_steps", "max_busy" },

  symptom = "{on_demand:pct} of the loads start only when the program waits for the batch. That leaves the GPU idle for {share:pct} of the time.",
  cause   = "The next batch is requested when it is needed, not while the GPU works on the current one.",
  fixes   = {
    { action  = "Turn on prefetching, and request batches in advance",
      snippet = "loader = DataLoader(dataset, num_workers=4, prefetch_factor=4, persistent_workers=True)", language = "python", ["for"] = { "pytorch" } },
    { action  = "With your own loader, start the next load before the step",
      snippet = [[pool = concurrent.futures.ThreadPoolExecutor(1)
pending = pool.submit(load, 0)
for i in range(steps):
    batch, pending = pending.result(), pool.submit(load, i + 1)
    process(batch)]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Remove waits for the GPU (.item(), synchronize) from the end of the step, so that the host runs ahead and requests data sooner", ["for"] = { "pytorch" } },
    { action = "Outside PyTorch, read the next batch on another thread while the GPU works on the current one",
      snippet = "auto next = std::async(std::launch::async, load, i + 1);\nprocess(batch, stream);\nbatch = next.get();", language = "cpp", ["for"] = { "c++" } },
    { action = "Have batches prepared ahead (tf.data: prefetch; Grain: worker_count)",
      snippet = "dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)", language = "python", ["for"] = { "jax", "tensorflow" } },
  },
  false_positives = "A batch that depends on the result of the last step, as in reinforcement learning, cannot be loaded ahead.",
  references = { "pytorch/dataloader-workers", "pytorch/tuning-guide" },

  applies = function(f) return f.input.background, "no thread or process but the launching one was seen to load data" end,

  detect = function(f, t)
    local lost = share(f.input.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.input.on_demand, t.min_on_demand) then return nil end
    if f.steps.count and f.input.steps_affected and not at_least(f.input.steps_affected, t.min_steps) then return nil end
    if f.input.workers_busy and not at_most(f.input.workers_busy, t.max_busy) then return nil end
    return { share = lost, on_demand = f.input.on_demand, busy = f.input.workers_busy, load_time = f.input.load.median }
  end,

  saving = { claims = "input.lost", remedy = "input.remedy", confidence = 0.75,
             basis = "loading overlaps with GPU work, as far as it fits" },

  tests = {
    { name = "workers start when the step is over",
      edges = { ["input.on_demand"] = 0.8, ["input.lost"] = 2e7, ["input.steps_affected"] = 0.5, ["input.workers_busy"] = 0.9 },
      facts = { window = { device_time = 1e9 }, steps = { count = 20 },
                input = { lost = 4e8, background = true, on_demand = 0.98, workers_busy = 0.3, steps_affected = 1,
                          load = { median = 2e7 }, remedy = true } },
      expect = { share = 0.4, on_demand = 0.98, busy = 0.3, load_time = 2e7 }, saving = { claims = 4e8, confidence = 0.75 } },
    { name = "near miss: loads begin in time",
      facts = { window = { device_time = 1e9 },
                input = { lost = 4e8, background = true, on_demand = 0.1, workers_busy = 0.3, remedy = true } },
      expect = "silent" },
    { name = "near miss: workers never rest, so there are too few",
      facts = { window = { device_time = 1e9 },
                input = { lost = 4e8, background = true, on_demand = 0.9, workers_busy = 0.99, remedy = true } },
      expect = "silent" },
    { name = "near miss: late loads that cost nothing",
      facts = { window = { device_time = 1e9 },
                input = { lost = 4e6, background = true, on_demand = 1, workers_busy = 0.3, remedy = true } },
      expect = "silent" },
    { name = "the launching thread loads",
      facts = { window = { device_time = 1e9 }, input = { lost = 4e8, background = false, on_demand = 1, remedy = true } },
      expect = "not_applicable" },
    { name = "when loads begin is not known",
      facts = { window = { device_time = 1e9 }, input = { lost = 4e8, background = true, remedy = true } },
      expect = "cannot_tell" },
  },
}
