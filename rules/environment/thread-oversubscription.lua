-- Each process starts OMP_NUM_THREADS threads for operations on the CPU; several processes with as many threads as the
-- node has cores push each other off them.
return {
  id        = "environment/thread-oversubscription",
  title     = "Give each process its share of the CPU cores",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-H21", "K-H3" },

  needs      = { "environment.recorded", "run.cpu_cores", "run.processes" },
  optional   = { "environment.omp_threads" },
  thresholds = { "max_load" },

  symptom = "{processes:count} processes with {threads:count} OpenMP threads each share {cores:count} CPUs.",
  cause   = "OMP_NUM_THREADS is set for one process per node, and several processes run there.",
  fixes   = {
    { action  = "Divide the cores among the processes",
      snippet = "export OMP_NUM_THREADS=$(( $(nproc --all) / 8 ))      # 8 processes per node; plain nproc obeys OMP_NUM_THREADS itself",
      language = "bash" },
    { action  = "Limit OpenCV and the math libraries in loader workers to one thread (PyTorch limits its own pool already)",
      snippet = "import cv2\ncv2.setNumThreads(0)              # in worker_init_fn",
      language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Programs that do no parallel work on the CPU.",
  references = { "pytorch/tuning-guide" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    if f.environment.omp_threads == nil then return false, "OMP_NUM_THREADS is not set" end
    return tonumber(f.environment.omp_threads) ~= nil, "OMP_NUM_THREADS is a list"
  end,

  detect = function(f, t)
    local threads = tonumber(f.environment.omp_threads)
    local load = share(threads * f.run.processes, f.run.cpu_cores)
    if at_most(load, t.max_load) then return nil end
    return { processes = f.run.processes, threads = threads, cores = f.run.cpu_cores }
  end,

  tests = {
    { name = "four processes with 32 threads on 32 CPUs",
      edges = { ["run.cpu_cores"] = 128 },
      facts = { environment = { recorded = true, omp_threads = "32" }, run = { cpu_cores = 32, processes = 4 } },
      expect = { processes = 4, threads = 32 } },
    { name = "near miss: eight threads each",
      facts = { environment = { recorded = true, omp_threads = "8" }, run = { cpu_cores = 32, processes = 4 } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true }, run = { cpu_cores = 32, processes = 4 } },
      expect = "not_applicable" },
    { name = "the number of CPUs is not known",
      facts = { environment = { recorded = true, omp_threads = "32" } },
      expect = "cannot_tell" },
  },
}
