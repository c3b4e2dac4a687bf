-- Several processes use one GPU in turns. Without MPS only one context runs at a time, and the GPU switches between them.
-- Kernels that fill the GPU win nothing by running side by side, so only what the SMs have room for counts.
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
  evidence   = { processes = "host.gpu_processes" },
  thresholds = { "min_processes", "min_share" },

  symptom = "One GPU serves {processes:count} processes in turn. For {share:pct} of the time, kernels of one process wait for their turn although the GPU has room for them.",
  cause   = "Each process has its own CUDA context, and without MPS the GPU runs one context at a time. Kernels of different processes never overlap, and each switch costs time.",
  fixes   = {
    { action = "Start the Multi-Process Service (MPS) before the processes: they then share the GPU without switching",
      snippet = "export CUDA_MPS_PIPE_DIRECTORY=/tmp/mps CUDA_MPS_LOG_DIRECTORY=/tmp/mps\nnvidia-cuda-mps-control -d\n" ..
                "srun COMMAND\necho quit | nvidia-cuda-mps-control",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "If there are enough GPUs, run one process per GPU; else one process that batches the work of all",
      snippet = "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))", language = "python", ["for"] = { "pytorch" } },
    { action = "If the processes must not disturb each other, divide the GPU with MIG" },
  },
  false_positives = "Processes that hand work to each other and would wait in any case. Kernels that use all of the memory bandwidth with few blocks: they slow each other down with MPS.",
  references = { "cuda/mps" },

  applies = function(f) return f.host.gpu_processes > 1, "each GPU is used by one process" end,

  saving = { confidence = 0.6, basis = "kernels of different processes overlap, as far as the SMs have room" },

  tests = {
    { name = "four processes lose a fifth of the time in switches",
      edges = { ["host.gpu_processes"] = 2, ["host.gpu_switch.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, host = { gpu_processes = 4, gpu_switch = { lost = { time = 2e8, count = 400 }, remedy = true } } },
      expect = { processes = 4, share = 0.2 },
      saving = { claims = 2e8, confidence = 0.6 } },
    { name = "near miss: two processes that follow one another",
      facts = { window = { device_time = 1e9 }, host = { gpu_processes = 2, gpu_switch = { lost = { time = 1e6, count = 1 }, remedy = true } } },
      expect = "silent" },
    { name = "one process a GPU",
      facts = { window = { device_time = 1e9 }, host = { gpu_processes = 1, gpu_switch = { lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "processes are not known", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
