-- The thread that launches kernels also reads and decodes the batch, and nobody else does.
-- Loading and computing then take turns: while one runs, the other waits. Two signals: the idle time lies under
-- this thread's own loading, and no worker process or thread was seen. Without calls of the operating system, loading looks
-- the same as waiting for workers, and input/starved speaks instead, unless the loader says by its name that it has none.
return {
  id        = "input/no-workers",
  title     = "Load data in worker processes, not on the launching thread",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 70,
  explains  = { "input/starved", "host/cpu-bound", "step/outlier" },
  knowledge = { "K-A1", "K-H3", "K-N4" },

  needs      = { "window.device_time", "input.lost", "input.own", "input.waiting", "input.workers", "input.remedy",
                 "capture.has_os_calls" },
  optional   = { "input.load.median", "input.steps_affected", "steps.count", "input.loader" },
  thresholds = { "min_share", "min_own", "min_steps" },

  symptom = "The GPU computes nothing for {share:pct} of the time while the thread that launches its kernels loads the batch itself. No loader workers were seen.",
  cause   = "Loading and computing take turns on one thread, so each waits for the other.",
  fixes   = {
    { action  = "Give the data loader worker processes; start with the CPU cores per GPU, at most 8 to 16",
      snippet = [[loader = DataLoader(dataset, batch_size=B, num_workers=8,
                    prefetch_factor=4, persistent_workers=True, pin_memory=True)]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Outside PyTorch, fill a queue of two or three batches from another thread while the GPU computes",
      snippet = [[std::thread loader([&] { while (auto b = load_next()) queue.push(std::move(b)); });  // bounded queue
while (auto b = queue.pop()) process(b);]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "If a batch costs far more CPU time than a step takes, prepare the data once and store it ready to use" },
  },
  false_positives = "Workers that the profiler did not follow (another container, a remote service) are not seen. Loading that ends well before the GPU runs out of work costs nothing and is not counted here.",
  references = { "pytorch/dataloader-workers", "pytorch/tuning-guide" },

  applies = function(f)
    if f.input.workers > 0 then return false, "loader workers were seen" end
    if f.input.loader == "workers" then return false, "a thread receives what workers load, or a range names a loader with workers" end
    return f.capture.has_os_calls or f.input.loader == "own", "without operating-system calls, loading looks the same as waiting for workers"
  end,

  detect = function(f, t)
    local lost = share(f.input.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(share(f.input.own, f.input.own + f.input.waiting), t.min_own) then return nil end
    if f.steps.count and f.input.steps_affected and not at_least(f.input.steps_affected, t.min_steps) then return nil end
    return { share = lost, own = f.input.own, steps = f.input.steps_affected, load_time = f.input.load.median }
  end,

  saving = { claims = "input.lost", remedy = "input.remedy", confidence = 0.85,
             basis = "loading in parallel overlaps with GPU work, as far as it can" },

  tests = {
    { name = "half the run waits for the thread's own loading",
      edges = { ["input.lost"] = 2e7, ["input.steps_affected"] = 0.2 },
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true }, steps = { count = 10 },
                input = { lost = 5e8, own = 4.8e8, waiting = 0, workers = 0, remedy = true, steps_affected = 1,
                          load = { median = 5e7 } } },
      expect = { share = 0.5, own = 4.8e8, steps = 1, load_time = 5e7 }, saving = { claims = 5e8, confidence = 0.85 } },
    { name = "no steps were found, so none can be affected",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true },
                input = { lost = 5e8, own = 4.8e8, waiting = 0, workers = 0, remedy = true, steps_affected = 0 } },
      expect = "fires" },
    { name = "near miss: loading inline, hidden behind a full queue",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true },
                input = { lost = 1e7, own = 1e7, waiting = 0, workers = 0, remedy = true } },
      expect = "silent" },
    { name = "near miss: the thread waits for another one that feeds it",
      edges = { ["input.own"] = 6e8 },
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true },
                input = { lost = 5e8, own = 1e8, waiting = 4e8, workers = 0, remedy = true } },
      expect = "silent" },
    { name = "near miss: one load, at the start of the window",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true }, steps = { count = 20 },
                input = { lost = 5e7, own = 5e7, waiting = 0, workers = 0, remedy = true, steps_affected = 0.05 } },
      expect = "silent" },
    { name = "no calls of the operating system, but the loader's range says that it has no workers",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = false }, steps = { count = 5 },
                input = { lost = 5e8, own = 5e8, waiting = 0, workers = 0, remedy = true, steps_affected = 1, loader = "own" } },
      expect = { share = 0.5, own = 5e8 } },
    { name = "the loader's range says that it has workers",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = false },
                input = { lost = 5e8, own = 0, waiting = 5e8, workers = 0, remedy = true, loader = "workers" } },
      expect = "not_applicable" },
    { name = "four workers load",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true },
                input = { lost = 5e8, own = 0, waiting = 5e8, workers = 4, remedy = true } },
      expect = "not_applicable" },
    { name = "loading or waiting, nobody knows",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = false },
                input = { lost = 5e8, own = 5e8, waiting = 0, workers = 0, remedy = true } },
      expect = "not_applicable" },
    { name = "loading cannot be seen", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
