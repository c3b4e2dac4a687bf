-- Each process starts OMP_NUM_THREADS threads for operations on the CPU; several processes with as many threads as the
-- node has cores push each other off them.

-- A report may show one process of several: what started them may have told each how many there are on its node.
local function processes_of(f)
  local most = f.run.processes
  for _, name in ipairs({ "local_processes", "mpi_local_processes", "tasks_per_node" }) do
    most = math.max(most, tonumber(f.environment[name]) or 0)
  end
  return most
end

return {
  id        = "environment/thread-oversubscription",
  title     = "Give each process its share of the CPU cores",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-H21", "K-H3" },

  needs      = { "environment.recorded", "run.cpu_cores", "run.processes" },
  optional   = { "environment.omp_threads", "environment.cpus_per_task", "environment.local_processes",
                 "environment.mpi_local_processes", "environment.tasks_per_node", "host.preempted", "window.time" },
  thresholds = { "max_load", "min_preempted" },

  symptom = "{processes:count} processes with {threads:count} OpenMP threads each share {cores:count} CPUs{set:text}.",
  cause   = "Libraries start one thread per CPU that a process may use, or as many as OMP_NUM_THREADS says. Several processes on a node then have more threads than CPUs, and take turns on them.",
  fixes   = {
    { action  = "Divide the CPUs of the job among its processes",
      snippet = "# 8 processes per node; plain nproc obeys OMP_NUM_THREADS itself\n" ..
                "export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-$(( $(env -u OMP_NUM_THREADS nproc) / 8 ))}",
      language = "bash" },
    { action  = "Have Slurm give each process CPUs of its own", snippet = "srun --cpus-per-task=8 --cpu-bind=cores COMMAND", language = "bash" },
    { action  = "Limit OpenCV and the math libraries in loader workers to one thread (PyTorch limits its own pool already)",
      snippet = "import cv2\ncv2.setNumThreads(0)              # in worker_init_fn",
      language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Programs that do no parallel work on the CPU.",
  references = { "pytorch/tuning-guide" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    local set = f.environment.omp_threads
    if set == nil then
      return processes_of(f) > 1 and f.host.preempted ~= nil, "OMP_NUM_THREADS is not set, and nothing shows threads that wait for a CPU"
    end
    return tonumber(set) ~= nil, "OMP_NUM_THREADS is a list"
  end,

  detect = function(f, t)
    local threads = tonumber(f.environment.omp_threads)
    local own = tonumber(f.environment.cpus_per_task)
    local processes = processes_of(f)
    if threads == nil then
      -- Unset, each process starts as many as it may use CPUs. Bound processes share none: only threads that wait tell.
      if own or f.window.time == nil then return nil end
      if not at_least(share(f.host.preempted, f.window.time), t.min_preempted) then return nil end
      return { processes = processes, threads = f.run.cpu_cores, cores = f.run.cpu_cores, set = ": OMP_NUM_THREADS is not set" }
    end
    -- Slurm's share of a process counts, where it is known, and not the whole node.
    if own then
      if at_most(share(threads, own), t.max_load) then return nil end
      return { processes = 1, threads = threads, cores = own, set = " (SLURM_CPUS_PER_TASK)" }
    end
    if at_most(share(threads * processes, f.run.cpu_cores), t.max_load) then return nil end
    return { processes = processes, threads = threads, cores = f.run.cpu_cores, set = "" }
  end,

  tests = {
    { name = "four processes with 32 threads on 32 CPUs",
      edges = { ["run.cpu_cores"] = 128 },
      facts = { environment = { recorded = true, omp_threads = "32" }, run = { cpu_cores = 32, processes = 4 } },
      expect = { processes = 4, threads = 32, cores = 32, set = "" } },
    { name = "16 threads on the 4 CPUs that Slurm gives each process",
      facts = { environment = { recorded = true, omp_threads = "16", cpus_per_task = "4" }, run = { cpu_cores = 128, processes = 4 } },
      expect = { threads = 16, cores = 4, set = " (SLURM_CPUS_PER_TASK)" } },
    { name = "one of the four processes that torchrun started on the node",
      facts = { environment = { recorded = true, omp_threads = "32", local_processes = "4" }, run = { cpu_cores = 32, processes = 1 } },
      expect = { processes = 4, threads = 32, cores = 32, set = "" } },
    { name = "one of the four processes that Slurm started on each node",
      facts = { environment = { recorded = true, omp_threads = "16", tasks_per_node = "4" }, run = { cpu_cores = 32, processes = 1 } },
      expect = { processes = 4, threads = 16, cores = 32, set = "" } },
    { name = "near miss: the only process that Open MPI started on the node",
      facts = { environment = { recorded = true, omp_threads = "32", mpi_local_processes = "1" }, run = { cpu_cores = 32, processes = 1 } },
      expect = "silent" },
    { name = "it is not set, and launching threads wait for a CPU",
      edges = { ["host.preempted"] = 2e7 },
      facts = { environment = { recorded = true }, run = { cpu_cores = 32, processes = 4 }, host = { preempted = 5e7 }, window = { time = 1e9 } },
      expect = { processes = 4, threads = 32, set = ": OMP_NUM_THREADS is not set" } },
    { name = "near miss: eight threads each",
      facts = { environment = { recorded = true, omp_threads = "8" }, run = { cpu_cores = 32, processes = 4 } },
      expect = "silent" },
    { name = "near miss: as many threads as Slurm gives CPUs",
      facts = { environment = { recorded = true, omp_threads = "8", cpus_per_task = "8" }, run = { cpu_cores = 32, processes = 16 } },
      expect = "silent" },
    { name = "near miss: it is not set, and Slurm binds each process to CPUs of its own",
      facts = { environment = { recorded = true, cpus_per_task = "8" }, run = { cpu_cores = 32, processes = 4 }, host = { preempted = 5e7 }, window = { time = 1e9 } },
      expect = "silent" },
    { name = "it is not set, and one process runs",
      facts = { environment = { recorded = true }, run = { cpu_cores = 32, processes = 1 }, host = { preempted = 5e7 }, window = { time = 1e9 } },
      expect = "not_applicable" },
    { name = "the number of CPUs is not known",
      facts = { environment = { recorded = true, omp_threads = "32" } },
      expect = "cannot_tell" },
  },
}
