-- The launching thread was ready to run, but the operating system gave its CPU to something else, while the GPU had nothing to do.
return {
  id        = "host/os-noise",
  title     = "Keep the launching thread on a CPU of its own",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  priority  = 60,
  explains  = { "host/cpu-bound", "step/jitter", "step/outlier" },
  knowledge = { "K-H23" },
  effort    = "flag",

  needs      = { "host.preempted.lost", "window.device_time" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_count", "part" },

  symptom = "{share:pct} of the time the GPU waits for a launching thread that is ready but has no CPU ({count:count} times).",
  cause   = "Other threads, processes or interrupts take the CPU that feeds the GPU. While the launching thread waits for its turn, no work reaches the GPU.",
  fixes   = {
    { action = "Bind each rank to cores of its own, near its GPU",
      snippet = "srun --cpus-per-task=16 --cpu-bind=cores python train.py\nnumactl --cpunodebind=$node --membind=$node python train.py   # without Slurm; $node: of this rank's GPU",
      language = "bash" },
    { action = "Run no more threads than there are cores: limit those of math libraries and of the loader workers",
      snippet = "export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1", language = "bash" },
    { action = "Keep daemons and interrupts off these cores (isolcpus, irqaffinity), or leave one core a node to the system",
      snippet = "srun --core-spec=1 --cpu-bind=cores python train.py", language = "bash" },
  },
  false_positives = "A node that was shared with another job during this capture only.",
  references = { "pytorch/tuning-guide", "nsys/user-guide" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.host.preempted.lost.time > 0, "the launching thread always had a CPU when the GPU waited"
  end,

  detect = function(f, t)
    local lost = f.host.preempted.lost
    local lost_share = share(lost.time, f.window.device_time)
    if not at_least(lost_share, t.min_share) or not at_least(lost.count, t.min_count) then return nil end
    return { share = lost_share, count = lost.count, time = lost.time }
  end,

  saving = function(f, t)
    return { claims = f.host.preempted.lost, part = t.part, confidence = 0.6,
             basis = "idle time in which the launching thread waited for a CPU" }
  end,

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "preempted 40 times, a tenth of the time",
      facts = { window = { device_time = 1e9 }, host = { preempted = { lost = { time = 1e8, count = 40 } } } },
      expect = { share = 0.1, count = 40, time = 1e8 },
      saving = { claims = 1e8, part = 0.8 } },
    { name = "near miss: the usual short interruptions",
      facts = { window = { device_time = 1e9 }, host = { preempted = { lost = { time = 5e6, count = 60 } } } },
      expect = "silent" },
    { name = "near miss: a single long one",
      facts = { window = { device_time = 1e9 }, host = { preempted = { lost = { time = 5e7, count = 1 } } } },
      expect = "silent" },
    { name = "never without a CPU",
      facts = { window = { device_time = 1e9 }, host = { preempted = { lost = { time = 0, count = 0 } } } },
      expect = "not_applicable" },
    { name = "no scheduling events were recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
