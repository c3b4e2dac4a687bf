-- The GPU idles while the host loads or transforms data, and it is not the plain case of no workers at all
-- (input/no-workers) or of too few busy ones (input/too-few-workers): a feeding thread that cannot keep up, workers
-- held back by something else, a loader that starts anew, more workers than cores.
return {
  id        = "input/starved",
  title     = "Have the next batch ready before the GPU needs it",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 60,
  explains  = { "host/cpu-bound", "step/jitter", "step/outlier" },
  knowledge = { "K-A1", "K-B1", "K-C1", "K-K14", "K-N5" },

  needs      = { "window.device_time", "input.lost", "input.own", "input.waiting", "input.remedy" },
  optional   = { "input.workers", "input.workers_busy", "input.steps_affected", "input.load.median", "steps.count",
                 "run.cpu_cores", "capture.has_os_calls", "input.loader", "input.background", "steps.stall.every", "steps.stall.what",
                 "steps.stall.lost" },
  thresholds = { "min_share", "min_own", "min_busy", "min_steps", "min_part" },

  symptom = "The GPU computes nothing for {share:pct} of the time while the host {doing:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "rounds", action = "Print how long each worker takes for a batch. If all of them are slow, use more workers; if one is, look at its files and its CPU cores",
      snippet = [[def __getitem__(self, i):                # of the dataset
    start = time.perf_counter()
    sample = self.load(i)
    print(torch.utils.data.get_worker_info().id, i, time.perf_counter() - start)
    return sample]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "rounds", action = "Keep more batches in reserve, and if their order does not matter, do not wait for the slow one",
      snippet = [[loader = DataLoader(dataset, num_workers=8, prefetch_factor=8, persistent_workers=True,
                    in_order=False)   # in_order: PyTorch 2.6 or newer]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "rounds", action = "Find out what the producer of the data does at these times: a new file, a slow server, or one of several producers that is slower than the rest" },
    { reason = "unseen", action = "If a data loader makes the batches, give it more workers; if simulators or other programs send them, run more of these, or let two groups take turns",
      snippet = [[loader = DataLoader(dataset, batch_size=B, num_workers=8, prefetch_factor=4,
                    persistent_workers=True, pin_memory=True)]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "unseen", action = "Find out which process sends the data, and run more of these, or let two groups of them take turns", ["for"] = { "c++", "fortran", "jax", "cupy", "numba" } },
    { action = "Let tf.data prepare several batches at once, and ahead of time",
      snippet = [[dataset = (dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE)
                  .batch(batch_size).prefetch(tf.data.AUTOTUNE))]],
      language = "python", ["for"] = { "tensorflow" } },
    { action  = "Prepare batches ahead and in parallel, and keep the workers alive between epochs",
      snippet = [[loader = DataLoader(dataset, batch_size=B, num_workers=8, prefetch_factor=4,
                    persistent_workers=True, pin_memory=True)]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "With your own loading thread, use several threads (processes for Python code that holds the interpreter lock) and a queue of two or three batches" },
    { action = "Compute once what does not change from epoch to epoch, such as embeddings or resized images, and store it" },
    { action = "Decode and augment on the GPU with NVIDIA DALI", ["for"] = { "pytorch", "tensorflow", "jax", "python" } },
  },
  false_positives = "A range that is named like data loading but does other work. A deliberate pause between requests of a server.",
  references = { "pytorch/dataloader-workers", "pytorch/tuning-guide", "nvidia/dali" },

  applies = function(f) return f.input.lost.time > 0, "the GPU never waits for data" end,

  detect = function(f, t)
    local lost = share(f.input.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    local workers, busy = f.input.workers, f.input.workers_busy
    local steps = f.steps.count and f.input.steps_affected
    local often = not steps or at_least(steps, t.min_steps)
    -- Those two rules speak for themselves.
    local loader = f.input.loader
    if workers == 0 and often and (f.capture.has_os_calls or loader == "own") and loader ~= "workers"
       and at_least(share(f.input.own, f.input.own + f.input.waiting), t.min_own) then
      return nil
    end
    if workers and (workers >= 1 or loader == "workers") and often and at_least(f.input.waiting, f.input.own)
       and (busy == nil or at_least(busy, t.min_busy))
       and (f.run.cpu_cores == nil or at_most(workers, f.run.cpu_cores)) then
      return nil
    end
    local doing = "loads data or waits for it"
    if f.capture.has_os_calls or loader == "own" or loader == "workers" then
      doing = f.input.own > f.input.waiting and "loads data on the launching thread" or "waits for data to be loaded"
    end
    -- Nothing shows whose work the thread waits for: a loader's workers, or simulators that need the results of the step before.
    local unseen = f.capture.has_os_calls and loader == "" and f.input.background == false and workers == 0
      and f.input.waiting > f.input.own
    if unseen then doing = "waits for data that another thread or process makes without a recorded call" end
    -- Most batches are ready, and the waits are evenly apart: a round of workers that are all slow looks like one slow
    -- worker, or storage that stalls at intervals.
    local every = f.steps.stall.what == "data loading" and f.steps.stall.lost and f.steps.stall.every
    local rounds = every and f.input.waiting > f.input.own and at_least(share(f.steps.stall.lost.time, f.input.lost.time), t.min_part)
    if rounds then doing = doing .. ", once every " .. math.floor(every) .. " steps" end
    return { share = lost, reason = rounds and "rounds" or unseen and "unseen" or nil, own = f.input.own, waiting = f.input.waiting, steps = steps or nil,
             load_time = f.input.load.median, doing = doing, every = rounds and every or nil,
             why = rounds and ("The other batches are ready in time: either one worker or the storage is slow at intervals, or " .. math.floor(every) .. " workers are all slow, and their batches come in rounds.")
               or often and "Batches arrive more slowly than the GPU consumes them."
               or "Most batches are ready in time. Few are late: their data is larger or on slow storage, or the loader starts over." }
  end,

  saving = { claims = "input.lost", remedy = "input.remedy", confidence = 0.6,
             basis = "loading in parallel overlaps with GPU work, as far as it can" },

  tests = {
    { name = "every eighth batch is late",
      edges = { ["steps.stall.lost"] = 3e8 },
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true }, steps = { count = 72, stall = { every = 8, what = "data loading", lost = 4.4e8 } },
                input = { lost = 4e8, own = 0, waiting = 4e8, remedy = true, workers = 0, steps_affected = 0.12, loader = "", background = false } },
      expect = { share = 0.4, every = 8, reason = "rounds", doing = "waits for data that another thread or process makes without a recorded call, once every 8 steps" } },
    { name = "near miss: one batch in eight is later than the others, which are late as well",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true }, steps = { count = 72, stall = { every = 8, what = "data loading", lost = 4e7 } },
                input = { lost = 4e8, own = 0, waiting = 4e8, remedy = true, workers = 0, steps_affected = 1, loader = "", background = false } },
      expect = { share = 0.4, reason = "unseen" } },
    { name = "nothing shows who makes the data",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true }, steps = { count = 50 },
                input = { lost = 8e8, own = 0, waiting = 8e8, remedy = true, workers = 0, steps_affected = 1, loader = "", background = false,
                          load = { median = 6e6 } } },
      expect = { share = 0.8, reason = "unseen", doing = "waits for data that another thread or process makes without a recorded call" } },
    { name = "a feeding thread cannot keep up",
      edges = { ["input.lost"] = 1e6 },
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true }, steps = { count = 10 },
                input = { lost = 3e8, own = 0, waiting = 2.8e8, workers = 0, remedy = true, steps_affected = 1,
                          load = { median = 3e7 } } },
      expect = { share = 0.3, waiting = 2.8e8, steps = 1, load_time = 3e7, doing = "waits for data to be loaded" },
      saving = { claims = 3e8, confidence = 0.6 } },
    { name = "the launching thread loads as much as it waits",
      edges = { ["input.own"] = 4.2e8 },
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true }, steps = { count = 10 },
                input = { lost = 7e8, own = 3.5e8, waiting = 2.8e8, workers = 0, remedy = true, steps_affected = 1 } },
      expect = { share = 0.7, doing = "loads data on the launching thread" } },
    { name = "workers rest while the thread waits for them",
      edges = { ["input.workers_busy"] = 0.6 },
      facts = { window = { device_time = 1e9 },
                input = { lost = 1e8, own = 0, waiting = 1e8, workers = 4, workers_busy = 0.1, remedy = true } },
      expect = "fires" },
    { name = "the loader starts anew once",
      edges = { ["input.steps_affected"] = 0.2 },
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true }, steps = { count = 50 },
                input = { lost = 1e8, own = 9e7, waiting = 0, workers = 0, remedy = true, steps_affected = 0.02 } },
      expect = { doing = "loads data on the launching thread", steps = 0.02,
                 why = "Most batches are ready in time. Few are late: their data is larger or on slow storage, or the loader starts over." } },
    { name = "without calls of the operating system",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = false },
                input = { lost = 4e8, own = 4e8, waiting = 0, workers = 0, remedy = true } },
      expect = { share = 0.4, doing = "loads data or waits for it" } },
    { name = "the loader starts anew once, as its name and no call of the operating system says",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = false }, steps = { count = 50 },
                input = { lost = 1e8, own = 9e7, waiting = 0, workers = 0, remedy = true, steps_affected = 0.02, loader = "own" } },
      expect = { doing = "loads data on the launching thread" } },
    { name = "near miss: the loader has no workers by its name, which is input/no-workers",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = false },
                input = { lost = 4e8, own = 4e8, waiting = 0, workers = 0, remedy = true, loader = "own" } },
      expect = "silent" },
    { name = "near miss: the waits hardly cost anything",
      facts = { window = { device_time = 1e9 },
                input = { lost = 5e5, own = 0, waiting = 5e5, workers = 0, remedy = true } },
      expect = "silent" },
    { name = "near miss: the thread loads itself, which is input/no-workers",
      facts = { window = { device_time = 1e9 }, capture = { has_os_calls = true },
                input = { lost = 5e8, own = 5e8, waiting = 0, workers = 0, remedy = true, steps_affected = 0 } },
      expect = "silent" },
    { name = "near miss: busy workers, which is input/too-few-workers",
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 16 },
                input = { lost = 5e8, own = 0, waiting = 5e8, workers = 2, workers_busy = 1, remedy = true } },
      expect = "silent" },
    { name = "no gap has to do with data",
      facts = { window = { device_time = 1e9 }, input = { lost = 0, own = 0, waiting = 0, remedy = true } },
      expect = "not_applicable" },
    { name = "loading cannot be seen", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
