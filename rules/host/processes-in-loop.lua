-- Processes are started in the loop: each copies page tables (with a large model in memory, for a long time), imports
-- libraries, and may hold locks that others wait for. Loaders without persistent workers do it at each epoch.
return {
  id        = "host/processes-in-loop",
  title     = "Start worker processes once",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 80,
  explains  = { "input/starved", "step/periodic-stall", "step/outlier", "host/cpu-bound" },
  knowledge = { "K-H3", "K-G2" },

  loss           = "os.process",
  not_applicable = "no process is started in the loop",
  evidence       = { "count" },
  optional       = { "os.process.remedy", "os.child_wait.lost", "os.child_wait.remedy" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Processes are started {count:count} times in the loop. The GPU waits {share:pct} of the time for that{until_end:text}.",
  cause   = "The program starts new processes for each epoch, task or external command.",
  fixes   = {
    { action  = "Keep the loader's workers",
      snippet = "loader = DataLoader(dataset, num_workers=8, persistent_workers=True)",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "waits", action = "Call a library, or a process that keeps running, instead of starting a program and waiting for its end" },
    { action = "Use threads, or start a pool of processes once, before the first use of the GPU" },
  },
  false_positives = "A single external command.",
  references = { "pytorch/dataloader-workers" },

  detect = function(f, t, e)
    local ends = f.os.child_wait.lost
    local waits = ends ~= nil and ends.time > 0
    e.reason = waits and "waits" or nil
    e.until_end = waits and ", and until they end" or ""
    if waits then e.share = e.share + share(ends.time, f.window.device_time) end
    return e
  end,

  saving = function(f, t, e)
    local claims, remedies = { f.os.process.lost }, { f.os.process.remedy }
    if e.reason == "waits" then
      table.insert(claims, f.os.child_wait.lost)
      table.insert(remedies, f.os.child_wait.remedy)
    end
    return { claims = claims, remedy = remedies, confidence = 0.6, basis = "no processes are started in the loop" }
  end,

  tests = {
    { name = "workers at each epoch",
      edges = { ["os.process.count"] = 2, ["os.process.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, os = { process = { count = 16, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, count = 16 },
      saving = { claims = 1e8 } },
    { name = "a tool in each iteration, which the program waits for",
      facts = { window = { device_time = 1e9 }, os = { process = { count = 50, lost = 1e8, remedy = true }, child_wait = { lost = 3e8, remedy = true } } },
      expect = { share = 0.4, reason = "waits", until_end = ", and until they end" },
      saving = { claims = 3e8 } },
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
