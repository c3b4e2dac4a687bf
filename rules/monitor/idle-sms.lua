-- Kernels run all the time, and few SMs have work: DCGM counts both. The widest gap that a monitor can show, since the rest of the GPU
-- is free for more of the same work.
return {
  id        = "monitor/idle-sms",
  title     = "Give all SMs work: kernels run, but most SMs are idle",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 50,
  explains  = { "monitor/busy-but-idle-inside" },
  knowledge = { "K-O6", "K-F2", "K-G3", "K-G4" },
  effort    = "code",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.samples" },
  optional   = { "monitor.sm_active", "monitor.gr_active", "monitor.utilization" },
  thresholds = { "min_samples", "min_utilization", "max_sm_active" },

  symptom = "According to DCGM, kernels run for {busy:pct} of the time, and on average {active:pct} of the SMs have work.",
  cause   = "Kernels with few blocks leave the other SMs idle, however long they run. So do kernels that only wait for other GPUs.",
  fixes   = {
    { action = "Give each launch more work: a larger batch, more rows or longer sequences per call, more blocks per kernel" },
    { action = "If one task cannot fill the GPU, run several at once: several processes under MPS, or several streams",
      snippet = "nvidia-cuda-mps-control -d", language = "bash", ["for"] = { "nvidia" } },
    { action = "Capture a timeline with GPU metrics: it shows which kernels leave SMs idle",
      snippet = "nsys profile --trace=cuda,nvtx --gpu-metrics-devices=all --duration=30 -o run -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "A job that waits for other GPUs: kernels of a collective run on few SMs until the last rank comes.",
  references = { "nvidia/dcgm", "cuda/mps" },

  applies = function(f)
    if f.monitor.gpus == 0 then return false, "no monitor log was given" end
    return f.monitor.sm_active ~= nil, "the log does not count SMs with work"
  end,

  detect = function(f, t)
    local busy = f.monitor.gr_active or f.monitor.utilization
    if not busy or not at_least(f.monitor.samples, t.min_samples) then return nil end
    if not at_least(busy, t.min_utilization) or not at_most(f.monitor.sm_active, t.max_sm_active) then return nil end
    return { busy = busy, active = f.monitor.sm_active }
  end,

  tests = {
    { name = "a twentieth of the SMs has work",
      edges = { ["monitor.samples"] = 20, ["monitor.sm_active"] = 0.5, ["monitor.gr_active"] = 0.9 },
      facts = { monitor = { gpus = 1, samples = 60, gr_active = 0.99, utilization = 0.99, sm_active = 0.048 } }, expect = { busy = 0.99, active = 0.048 } },
    { name = "the exporter counts utilization only",
      facts = { monitor = { gpus = 1, samples = 60, utilization = 0.98, sm_active = 0.25 } }, expect = { busy = 0.98, active = 0.25 } },
    { name = "near miss: most SMs have work", facts = { monitor = { gpus = 1, samples = 60, gr_active = 0.99, sm_active = 0.9 } }, expect = "silent" },
    { name = "near miss: idle between kernels, too", facts = { monitor = { gpus = 1, samples = 60, gr_active = 0.4, sm_active = 0.2 } }, expect = "silent" },
    { name = "near miss: a handful of samples", facts = { monitor = { gpus = 1, samples = 5, gr_active = 0.99, sm_active = 0.1 } }, expect = "silent" },
    { name = "nvidia-smi does not count SMs", facts = { monitor = { gpus = 1, samples = 60, utilization = 0.99 } }, expect = "not_applicable" },
    { name = "no monitor", facts = { monitor = { gpus = 0, samples = 0 } }, expect = "not_applicable" },
  },
}
