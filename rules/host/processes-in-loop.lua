-- Processes are started in the loop: each copies page tables (with a large model in memory, for a long time), imports
-- libraries, and may hold locks that others wait for. Loaders without persistent workers do it at each epoch.
return {
  id        = "host/processes-in-loop",
  title     = "Start worker processes once",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "flag",
  priority  = 69,
  explains  = { "input/starved", "step/outlier", "host/cpu-bound" },
  knowledge = { "K-H3", "K-G2" },

  needs      = { "window.device_time", "os.process.count", "os.process.lost", "os.process.remedy" },
  thresholds = { "min_share", "min_count" },

  symptom = "Processes are started {count:count} times in the loop; the GPU waits {share:pct} of its time for that.",
  cause   = "Workers are started anew for each epoch or task.",
  fixes   = {
    { action  = "Keep the loader's workers",
      snippet = "loader = DataLoader(dataset, num_workers=8, persistent_workers=True)",
      language = "python" },
    { action = "Use threads, or a pool that is started before the model is built" },
  },
  false_positives = "A single external command.",
  references = { "pytorch/dataloader-workers" },

  applies = function(f)
    return f.os.process.count > 0, "no process is started in the loop"
  end,

  detect = function(f, t)
    local lost = share(f.os.process.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) or not at_least(f.os.process.count, t.min_count) then return nil end
    return { share = lost, count = f.os.process.count }
  end,

  saving = function(f)
    return { claims = f.os.process.lost, remedy = f.os.process.remedy, confidence = 0.6, basis = "no processes are started in the loop" }
  end,

  tests = {
    { name = "workers at each epoch",
      facts = { window = { device_time = 1e9 }, os = { process = { count = 16, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, count = 16 },
      saving = { claims = 1e8 } },
    { name = "near miss: one command",
      facts = { window = { device_time = 1e9 }, os = { process = { count = 1, lost = 1e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: behind a full queue",
      facts = { window = { device_time = 1e9 }, os = { process = { count = 16, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "none",
      facts = { window = { device_time = 1e9 }, os = { process = { count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
