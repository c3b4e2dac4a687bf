-- A launch takes a few microseconds. Here it takes several times that although the queue is not full (a call that waits
-- for room in the queue is back-pressure and harmless) and although the kernel is not new (first launches load code).
-- What is left: several threads in CUDA at a time, who share a lock; a slow or crowded CPU; the profiler itself.
-- Such launches cost also what the thread comes late to behind them: the next upload, the launch behind a wait.
return {
  id        = "launch/slow-calls",
  title     = "Find out why kernel launches are slow",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 58,
  explains  = { "launch/bound", "launch/graph-candidate", "launch/host-op-overhead", "host/cpu-bound" },
  knowledge = { "K-O4" },

  needs_loop = true,
  needs      = { "window.device_time", "launch.count", "launch.slow.lost", "launch.slow.remedy" },
  optional   = { "launch.slow.median", "launch.slow.contended", "launch.threads", "capture.overhead", "window.time" },
  thresholds = { "min_share", "min_median", "min_contended", "min_overhead" },

  symptom = "A kernel launch takes {median:time} although the GPU's queue is not full. Because of such launches, the GPU computes nothing for {share:pct} of the time.",
  cause   = "{why:text}",
  fixes   = {
    { action = "Launch from one thread per process, or use one process per GPU; keep other threads out of CUDA calls (allocation, event queries) meanwhile" },
    { action  = "Give the launching thread its own core near the GPU, and keep worker threads off it",
      snippet = [[numactl --cpunodebind=N --membind=N COMMAND
export OMP_NUM_THREADS=4]],
      language = "bash" },
    { action  = "Capture again with less host tracing, and compare the launch times",
      snippet = "nsys profile --trace=cuda --sample=none --cpuctxsw=none --cudabacktrace=none -o run -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Launch less often: with CUDA graphs, one call launches a whole step" },
  },
  false_positives = "Kernels with very many arguments, cooperative launches, and virtual machines launch more slowly by nature.",
  references = { "nsys/cli-options", "cuda-programming/graphs" },

  applies = function(f) return f.launch.count > 0 and f.launch.slow.median ~= nil, "kernel launches are not slow" end,

  detect = function(f, t)
    local lost = share(f.launch.slow.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.launch.slow.median, t.min_median) then return nil end
    local why = "The thread is slow inside the CUDA library: its core is shared or slow, or this kind of launch is costly."
    if f.launch.slow.contended and at_least(f.launch.slow.contended, t.min_contended) then
      why = "Other threads of the process make CUDA calls at the same time, and all of them share a lock."
    elseif f.capture.overhead and f.window.time and at_least(share(f.capture.overhead, f.window.time), t.min_overhead) then
      why = "The profiler's own work slows the calls down. Without it they may be fast."
    end
    return { share = lost, median = f.launch.slow.median, contended = f.launch.slow.contended, threads = f.launch.threads,
             why = why }
  end,

  saving = function(f, t)
    local sure = f.launch.slow.contended and at_least(f.launch.slow.contended, t.min_contended)
    return { claims = f.launch.slow.lost, remedy = f.launch.slow.remedy, confidence = sure and 0.7 or 0.5,
             basis = "kernel launches take their usual time" }
  end,

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "60 µs a launch, against other threads",
      edges = { ["launch.slow.contended"] = 0.3, ["launch.slow.lost"] = 2e7, ["launch.slow.median"] = 15000 },
      facts = { window = { device_time = 1e9, time = 1e9 },
                launch = { count = 10000, threads = 4, slow = { median = 60000, contended = 0.8, lost = 3e8, remedy = true } } },
      expect = { share = 0.3, median = 60000, contended = 0.8, threads = 4,
                 why = "Other threads of the process make CUDA calls at the same time, and all of them share a lock." },
      saving = { claims = 3e8, confidence = 0.7 } },
    { name = "the profiler is at work",
      edges = { ["capture.overhead"] = 5e7 },
      facts = { window = { device_time = 1e9, time = 1e9 }, capture = { overhead = 2e8 },
                launch = { count = 10000, slow = { median = 60000, contended = 0, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, why = "The profiler's own work slows the calls down. Without it they may be fast." },
      saving = { confidence = 0.5 } },
    { name = "near miss: slow calls while the GPU computes",
      facts = { window = { device_time = 1e9 }, launch = { count = 10000,
                                                           slow = { median = 60000, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: usual calls",
      facts = { window = { device_time = 1e9 }, launch = { count = 10000, slow = { median = 9000, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "kernel launches are not slow",
      facts = { window = { device_time = 1e9 }, launch = { count = 10000, slow = { lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
    { name = "what they cost is not known",
      facts = { window = { device_time = 1e9 }, launch = { count = 10000, slow = { median = 60000 } } }, expect = "cannot_tell" },
  },
}
