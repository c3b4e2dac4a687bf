-- Several processes use one GPU for computing. Without MPS they take turns, and each sees a fraction of the GPU and of its memory.
-- A number or a UUID, which begins with "GPU-".
local function on(gpu)
  return starts_with(gpu, "GPU-") and gpu or "GPU " .. gpu
end

return {
  id        = "monitor/shared-gpu",
  title     = "Give each process its own GPU, or let them share it under MPS",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 45,
  knowledge = { "K-O7" },
  effort    = "flag",
  observed  = "recorded",

  needs      = {},
  optional   = { "monitor.shared.count", "monitor.shared.gpu", "monitor.shared.names" },
  thresholds = { "min_processes" },

  symptom = "On {gpu:text}, {count:count} processes hold a compute context: {names:text}.",
  cause   = "Without MPS, the GPU runs kernels of one process at a time and switches between processes. Each takes longer than alone, and all share the memory.",
  fixes   = {
    { action = "Move all but one of them to other GPUs", snippet = "CUDA_VISIBLE_DEVICES=1 COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "If each of them fills only a part of the GPU, start MPS, so that their kernels run concurrently", snippet = "nvidia-cuda-mps-control -d", language = "bash", ["for"] = { "nvidia" } },
    { action = "If one of them was forgotten, such as a notebook or a server without requests, end it" },
  },
  false_positives = "Helpers of one job that hold a context and compute nothing. MPS that is in use already.",
  references = { "nvidia/smi", "cuda/mps" },

  applies = function(f) return f.monitor.shared.count ~= nil, "no list of processes was given" end,

  detect = function(f, t)
    if not at_least(f.monitor.shared.count, t.min_processes) then return nil end
    return { count = f.monitor.shared.count, gpu = on(f.monitor.shared.gpu or "0"), names = f.monitor.shared.names or "" }
  end,

  tests = {
    { name = "two processes", edges = { ["monitor.shared.count"] = 2 },
      facts = { monitor = { shared = { count = 2, gpu = "0", names = "python 4242 (31.5 GB), llama-server 5151 (41.9 GB)" } } }, expect = { count = 2, gpu = "GPU 0" } },
    { name = "by UUID", facts = { monitor = { shared = { count = 2, gpu = "GPU-aaa", names = "a 1, b 2" } } }, expect = { gpu = "GPU-aaa" } },
    { name = "near miss: one per GPU", facts = { monitor = { shared = { count = 0 } } }, expect = "silent" },
    { name = "no list", facts = { monitor = { shared = {} } }, expect = "not_applicable" },
  },
}
