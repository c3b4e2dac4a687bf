-- All threads of the process stand still until the next period of the scheduler begins, anywhere in the step: the limit on
-- its CPU time is used up. Neither OS calls nor ranges show it, only the rhythm.
return {
  id        = "host/cpu-quota",
  title     = "Raise the CPU limit of the container",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-H23" },

  needs_loop     = true,
  loss           = "host.quota",
  not_applicable = "no pauses of the whole process end in the rhythm of a CPU quota",
  evidence       = { "count", time = "time" },
  thresholds     = { "min_share", "max_pause" },

  symptom = "{count:count} times, no thread of the process begins or ends anything for {mean:time} (on average), and each of these pauses ends when a period of 100 ms does. The GPU waits {share:pct} of the time for that.",
  cause   = "The process has probably used up its CPU quota: the scheduler then stops all of its threads until the next period of 100 ms begins, wherever the program is.",
  fixes   = {
    { action  = "See how often the scheduler stopped the container: nr_throttled grows with each time",
      snippet = "cat /sys/fs/cgroup/cpu.stat      # cgroup v1: /sys/fs/cgroup/cpu/cpu.stat", language = "bash" },
    { action  = "Raise the CPU limit of the container, or set none and only request CPUs",
      snippet = "docker run --cpus=16 IMAGE COMMAND   # Kubernetes: resources.limits.cpu", language = "bash" },
    { action  = "Use fewer CPU threads: limit those of math libraries and of loader workers",
      snippet = "export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1", language = "bash" },
  },
  false_positives = "A program that keeps a pace of 100 ms by a timer of its own.",
  references = { "linux/cgroups" },

  detect = function(f, t, e)
    e.mean = share(e.time, e.count)
    -- Who stands still for a whole period had nothing to do in it.
    if not at_most(e.mean, t.max_pause) then return nil end
    return e
  end,

  tests = {
    { name = "the process stands still for 45 ms of every 100 ms",
      edges = { ["host.quota.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, host = { quota = { count = 9, time = 4.05e8, lost = 3e8 } } },
      expect = { share = 0.3, count = 9, mean = 4.5e7 } },
    { name = "near miss: the GPU has work for the pauses",
      facts = { window = { device_time = 1e9 }, host = { quota = { count = 9, time = 4.05e8, lost = 8e6 } } },
      expect = "silent" },
    { name = "near miss: nobody uses the notebook, and a thread of the driver wakes up every 100 ms",
      edges = { ["host.quota.time"] = 7.2e8 },
      facts = { window = { device_time = 1e9 }, host = { quota = { count = 9, time = 8.9e8, lost = 8.8e8 } } },
      expect = "silent" },
    { name = "no such pauses",
      facts = { window = { device_time = 1e9 }, host = { quota = { count = 0, time = 0, lost = 0 } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
