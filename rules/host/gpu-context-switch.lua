-- Several processes use one GPU in turns. Without MPS only one context runs at a time, and the GPU switches between them.
return {
  id        = "host/gpu-context-switch",
  title     = "Share the GPU between processes with MPS",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 62,
  knowledge = { "K-H7" },
  effort    = "flag",

  loss       = "host.gpu_switch",
  evidence   = { processes = "host.gpu_processes", count = "lost.count" },
  thresholds = { "min_processes", "min_share", "part" },

  symptom = "One GPU serves {processes:count} processes in turn. The switches between them ({count:count}) cost {share:pct} of the time.",
  cause   = "Each process has its own CUDA context, and without MPS the GPU runs one context at a time, so kernels of different processes never overlap and each switch costs time.",
  fixes   = {
    { action = "Start the Multi-Process Service (MPS) before the processes: they then share the GPU without switching",
      snippet = "export CUDA_MPS_PIPE_DIRECTORY=/tmp/mps CUDA_MPS_LOG_DIRECTORY=/tmp/mps\nnvidia-cuda-mps-control -d\n" ..
                "srun COMMAND\necho quit | nvidia-cuda-mps-control",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Run one process per GPU: batch the work of the processes, or give each rank its own device",
      snippet = "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))", language = "python", ["for"] = { "pytorch" } },
    { action = "If the processes must not disturb each other, divide the GPU with MIG" },
  },
  false_positives = "Processes that hand work to each other and would wait in any case.",
  references = { "cuda/mps" },

  applies = function(f) return f.host.gpu_processes > 1, "each GPU is used by one process" end,

  saving = { part = "part", confidence = 0.5, basis = "part of the idle time between the work of different processes is gone" },

  tests = {
    { name = "four processes lose a fifth of the time in switches",
      edges = { ["host.gpu_processes"] = 2, ["host.gpu_switch.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, host = { gpu_processes = 4, gpu_switch = { lost = { time = 2e8, count = 400 } } } },
      expect = { processes = 4, share = 0.2, count = 400 },
      saving = { claims = 2e8, part = 0.7 } },
    { name = "near miss: two processes that follow one another",
      facts = { window = { device_time = 1e9 }, host = { gpu_processes = 2, gpu_switch = { lost = { time = 1e6, count = 1 } } } },
      expect = "silent" },
    { name = "one process a GPU",
      facts = { window = { device_time = 1e9 }, host = { gpu_processes = 1, gpu_switch = { lost = 0 } } },
      expect = "not_applicable" },
    { name = "processes are not known", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
