-- Job policy: an allocated GPU should work. Why it waits is what the built-in rules say.
return {
  id        = "site/idle-allocation",
  title     = "Use the GPU that the job holds",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "design",

  needs      = { "window.time", "budget.idle" },
  thresholds = { "min_idle" },

  symptom = "The allocated GPU does nothing for {idle:pct} of the time.",
  cause   = "The job does not keep its GPU busy; others wait for one.",
  fixes   = {
    { action = "Follow the first finding of this report, or ask the support team" },
    { action = "Run short or interactive work in the queue for shared GPUs",
      snippet = "sbatch --partition=gpu-shared job.sh", language = "bash" },
  },
  false_positives = "A capture of the start of a job.",

  applies = function(f) return f.window.time > 0, "no GPU work was captured" end,

  detect = function(f, t)
    local idle = share(f.budget.idle, f.window.time)
    if not at_least(idle, t.min_idle) then return nil end
    return { idle = idle }
  end,

  tests = {
    { name = "three quarters idle", facts = { window = { time = 1e9 }, budget = { idle = 7.5e8 } }, expect = { idle = 0.75 } },
    { name = "near miss: a third idle", facts = { window = { time = 1e9 }, budget = { idle = 3e8 } }, expect = "silent" },
    { name = "nothing was captured", facts = { window = { time = 0 } }, expect = "not_applicable" },
  },
}
