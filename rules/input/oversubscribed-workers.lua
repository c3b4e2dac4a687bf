-- More loader workers than the host has cores: they take the cores from each other and from the thread that
-- launches kernels, and each holds a copy of its batches and often of the data set. The GPU waits all the same.
return {
  id        = "input/oversubscribed-workers",
  title     = "Use no more loader workers than CPU cores",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 72,
  explains  = { "input/too-few-workers", "input/starved", "host/os-noise" },
  knowledge = { "K-H21" },

  needs      = { "window.device_time", "input.lost", "input.workers", "run.cpu_cores", "input.remedy" },
  optional   = { "input.workers_busy", "input.steps_affected_later", "input.file.share" },
  thresholds = { "min_share", "min_workers_per_core", "min_busy", "min_per_round" },

  symptom = "There are {workers:count} loader workers for {cores:count} CPU cores, and the GPU is still idle for {share:pct} of the time for lack of data.",
  cause   = "The workers compete with each other and with the launching thread for cores and memory.",
  fixes   = {
    { action  = "Use as many workers as the job has cores, less one core per process for the launching thread",
      snippet = [[cores = len(os.sched_getaffinity(0))          # what this job may use, not what the node has
loader = DataLoader(dataset, num_workers=max(1, cores // ranks_on_this_node - 1))]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Keep libraries in the workers from starting their own threads",
      snippet = [[import cv2
def one_thread(worker): cv2.setNumThreads(0)     # PyTorch's own pool has one thread in workers already
loader = DataLoader(dataset, num_workers=8, worker_init_fn=one_thread)   # NumPy: export OPENBLAS_NUM_THREADS=1]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "If loading needs all cores, make each batch cheaper or decode on the GPU with NVIDIA DALI", ["for"] = { "pytorch", "tensorflow", "jax", "python" } },
  },
  false_positives = "Workers that mostly wait for the network may well outnumber the cores.",
  references = { "pytorch/dataloader-workers", "nvidia/dali" },

  applies = function(f) return f.input.workers >= 1, "no loader workers were seen" end,

  detect = function(f, t)
    local lost = share(f.input.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    -- Who waits for a file needs no core meanwhile.
    local computing = f.input.workers * (1 - (f.input.file.share or 0))
    if not at_least(share(computing, f.run.cpu_cores), t.min_workers_per_core) then return nil end
    if f.input.workers_busy and not at_least(f.input.workers_busy, t.min_busy) then return nil end
    -- Cores that are short are short all the time. Where workers are late less than once a round, single batches are slow.
    local affected = f.input.steps_affected_later
    if affected and not at_least(affected * f.input.workers, t.min_per_round) then return nil end
    return { share = lost, workers = f.input.workers, cores = f.run.cpu_cores, busy = f.input.workers_busy }
  end,

  saving = { claims = "input.lost", remedy = "input.remedy", confidence = 0.4,
             basis = "part of the idle time during loading is gone; the trace does not show how much contention costs" },

  tests = {
    { name = "64 busy workers on 16 cores",
      edges = { ["input.lost"] = 2e7, ["input.workers"] = 20, ["input.workers_busy"] = 0.5 },
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 16 },
                input = { lost = 2.5e8, workers = 64, workers_busy = 0.9, remedy = true } },
      expect = { share = 0.25, workers = 64, cores = 16 }, saving = { claims = 2.5e8, confidence = 0.4 } },
    { name = "near miss: as many workers as cores",
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 16 },
                input = { lost = 2.5e8, workers = 16, workers_busy = 0.9, remedy = true } },
      expect = "silent" },
    { name = "they read files for a third of the time",
      edges = { ["input.file.share"] = 0.6875 },
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 16 },
                input = { lost = 2.5e8, workers = 64, workers_busy = 0.9, file = { share = 0.33 }, remedy = true } },
      expect = { share = 0.25, workers = 64 } },
    { name = "near miss: 16 workers on 4 cores wait for files most of the time",
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 4 },
                input = { lost = 2.5e8, workers = 16, workers_busy = 1, file = { share = 0.8 }, remedy = true } },
      expect = "silent" },
    { name = "near miss: too many workers, and the GPU does not wait",
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 16 },
                input = { lost = 1e6, workers = 64, workers_busy = 0.9, remedy = true } },
      expect = "silent" },
    { name = "near miss: they hardly run at all",
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 16 },
                input = { lost = 2.5e8, workers = 64, workers_busy = 0.1, remedy = true } },
      expect = "silent" },
    { name = "batches are late once a round of the workers",
      edges = { ["input.steps_affected_later"] = 0.009375 },
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 16 },
                input = { lost = 2.5e8, workers = 64, workers_busy = 0.9, steps_affected_later = 0.016, remedy = true } },
      expect = { share = 0.25 } },
    { name = "near miss: two batches of three hundred are late",
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 16 },
                input = { lost = 8.6e8, workers = 64, workers_busy = 1, steps_affected_later = 0.007, remedy = true } },
      expect = "silent" },
    { name = "no workers",
      facts = { window = { device_time = 1e9 }, run = { cpu_cores = 16 }, input = { lost = 2.5e8, workers = 0, remedy = true } },
      expect = "not_applicable" },
    { name = "the number of cores is not known",
      facts = { window = { device_time = 1e9 }, input = { lost = 2.5e8, workers = 64, remedy = true } },
      expect = "cannot_tell" },
  },
}
