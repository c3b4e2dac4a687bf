-- Several processes of a job compute on one GPU, while others of the node have no work: each calls its GPU 0, because nothing
-- tells it which one is its own. The best-known mistake of programs with a process per GPU.
return {
  id        = "rank/one-gpu-for-all",
  title     = "Run one process per GPU",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 80,
  explains  = { "host/gpu-context-switch", "rank/idle-device" },
  knowledge = { "K-G1", "K-H7" },
  effort    = "code",

  needs      = { "window.device_time", "rank.idle.devices", "host.gpu_processes", "host.one_gpu.lost" },
  thresholds = { "min_processes", "min_share" },

  symptom = "One GPU serves {processes:count} processes, and the node has {idle:count} more without work. Kernels of one process wait for those of another: with a GPU each, the program would take {share:pct} less time.",
  cause   = "Without a device number, each process uses the first GPU that it sees.",
  fixes   = {
    { action = "Let each process use the GPU of its local rank",
      snippet = "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))   # before anything else uses the GPU", language = "python", ["for"] = { "pytorch" } },
    { action = "Let each process use the GPU of its local rank",
      snippet = "MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);\nMPI_Comm_rank(node, &local_rank);\ncudaSetDevice(local_rank);", language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { action = "Let the launcher show each process its GPU alone",
      snippet = "srun --ntasks-per-node=4 --gpus-per-task=1 COMMAND\n# elsewhere, in a script around it: export CUDA_VISIBLE_DEVICES=$LOCAL_RANK", language = "bash" },
  },
  false_positives = "GPUs that belong to other jobs: a report lists all GPUs that the driver shows.",
  references = { "cuda/mps" },

  applies = function(f)
    if f.rank.idle.devices == 0 then return false, "every GPU that the job sees did work" end
    return f.host.gpu_processes > 1, "each GPU is used by one process"
  end,

  detect = function(f, t)
    local lost = share(f.host.one_gpu.lost.time, f.window.device_time)
    if not at_least(f.host.gpu_processes, t.min_processes) or not at_least(lost, t.min_share) then return nil end
    return { processes = f.host.gpu_processes, idle = f.rank.idle.devices, share = lost }
  end,

  saving = { claims = "host.one_gpu.lost", confidence = 0.7, basis = "each process takes as long as it does alone" },

  tests = {
    { name = "four ranks on the first of four GPUs",
      edges = { ["host.one_gpu.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 }, rank = { idle = { devices = 3 } },
                host = { gpu_processes = 4, one_gpu = { lost = 7e8 } } },
      expect = { processes = 4, share = 0.7, idle = 3 },
      saving = { claims = 7e8, confidence = 0.7 } },
    { name = "two processes, one GPU too few",
      facts = { window = { device_time = 1e9 }, rank = { idle = { devices = 1 } },
                host = { gpu_processes = 2, one_gpu = { lost = 4e8 } } },
      expect = { processes = 2, idle = 1 } },
    { name = "near miss: processes that hardly meet",
      facts = { window = { device_time = 1e9 }, rank = { idle = { devices = 3 } },
                host = { gpu_processes = 4, one_gpu = { lost = 1e7 } } },
      expect = "silent" },
    { name = "all GPUs work",
      facts = { window = { device_time = 1e9 }, rank = { idle = { devices = 0 } },
                host = { gpu_processes = 4, one_gpu = { lost = 0 } } },
      expect = "not_applicable" },
    { name = "processes are not known", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
