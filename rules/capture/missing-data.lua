-- What this capture does not hold, the questions that stay open because of it, and the option that records it.
-- Named ranges have a rule of their own (capture/no-ranges).
return {
  id        = "capture/missing-data",
  title     = "Capture again with what is missing here",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-F8", "K-O1", "K-F7", "K-G3", "K-I7" },
  effort    = "flag",
  topic     = "missing-sources",

  needs      = { "capture.has_calls", "capture.has_os_calls", "capture.has_gpu_samples", "capture.has_memory" },
  optional   = { "budget.compute", "window.time", "capture.format", "comm.count" },
  thresholds = { "min_compute" },

  symptom = "Not recorded: {missing:text}. Open questions: {questions:text}.",
  cause   = "The profiler was not asked to collect this, or was not allowed to.",
  fixes   = {
    { reason = "!ranks", action = "Capture again with the missing options: {options:text}",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --cuda-memory-usage=true \\\n" ..
                "    --gpu-metrics-devices=all --gpu-metrics-frequency=10000 \\\n    -o report -- COMMAND",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "ranks", action = "Capture again with the missing options ({options:text}). Only one rank per node samples the GPUs, and each rank writes its own report",
      snippet = "# run.sh, started once per rank\n" ..
                "if [ \"$SLURM_LOCALID\" = 0 ]; then samples=\"--gpu-metrics-devices=all --gpu-metrics-frequency=10000\"; fi\n" ..
                "nsys profile --trace=cuda,nvtx,osrt --cuda-memory-usage=true $samples -o report.$SLURM_PROCID -- COMMAND",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "If GPU samples are refused, pause DCGM, stop other profilers, or ask the administrator for permission",
      snippet = "dcgmi profile --pause\nnsys profile --gpu-metrics-devices=all ...\ndcgmi profile --resume", language = "bash", ["for"] = { "nvidia" } },
    { action = "With torch.profiler, record the host, the GPU and memory",
      snippet = "with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as prof:\n    train()",
      language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "A light capture made on purpose for one question.",
  references = { "nsys/cli-options", "nsys/gpu-metrics", "nvidia/dcgm", "pytorch/profiler" },

  applies = function(f)
    local capture = f.capture
    if capture.has_calls ~= nil and (f.window.time or 0) == 0 then return false, "nothing ran on the GPU" end
    local all = capture.has_calls and capture.has_os_calls and capture.has_gpu_samples and capture.has_memory
    return not all, "everything that the rules read was recorded"
  end,

  detect = function(f, t)
    local rows, names, questions, options = {}, {}, {}, {}
    local function miss(data, question, option)
      table.insert(rows, { data = data, question = question, option = option })
      table.insert(names, data)
      table.insert(questions, question)
      table.insert(options, option)
    end
    local compute_matters = f.budget.compute == nil or at_least(share(f.budget.compute, f.window.time), t.min_compute)

    local torch = f.capture.format == "kineto"
    if not f.capture.has_calls then
      miss("CUDA calls", "which host code keeps the GPU waiting", torch and "ProfilerActivity.CUDA" or "--trace=cuda")
    end
    -- The report's head says what missing calls of the operating system leave open.
    if not f.capture.has_gpu_samples and compute_matters then
      miss("GPU metric samples", "how well kernels use the SMs, tensor cores and memory", "--gpu-metrics-devices=all")
    end
    if not f.capture.has_memory and compute_matters then
      miss("memory events", "the peak and growth of device memory",
           torch and "profile_memory=True" or "--cuda-memory-usage=true")
    end
    if #rows == 0 then return nil end
    -- Collectives are those of several ranks, each under its own profiler.
    local ranks = (f.comm.count or 0) > 0
    return { reason = ranks and "ranks" or nil, missing = table.concat(names, ", "), questions = table.concat(questions, "; "),
             options = table.concat(options, " "), count = #rows, rows = rows }
  end,

  tests = {
    { name = "kernels and calls only",
      edges = { ["budget.compute"] = 1e8 },
      facts = { window = { time = 1e9 }, budget = { compute = 6e8 },
                capture = { has_calls = true, has_os_calls = false, has_gpu_samples = false, has_memory = false } },
      expect = { count = 2, missing = "GPU metric samples, memory events",
                 options = "--gpu-metrics-devices=all --cuda-memory-usage=true", rows = 2 } },
    { name = "one of eight ranks: only one per node samples the GPUs",
      facts = { window = { time = 1e9 }, budget = { compute = 6e8 },
                capture = { has_calls = true, has_os_calls = false, has_gpu_samples = false, has_memory = false }, comm = { count = 40 } },
      expect = { count = 2, reason = "ranks" } },
    { name = "a trace of PyTorch's profiler",
      facts = { window = { time = 1e9 }, budget = { compute = 6e8 },
                capture = { has_calls = true, has_os_calls = false, has_gpu_samples = false, has_memory = false, format = "kineto" } },
      expect = { count = 2, options = "--gpu-metrics-devices=all profile_memory=True" } },
    { name = "near miss: no GPU work at all, so there is nothing to ask of kernels, calls and memory",
      facts = { capture = { has_calls = false, has_os_calls = false, has_gpu_samples = false, has_memory = false } },
      expect = "not_applicable" },
    { name = "a window without GPU work",
      facts = { window = { time = 0 }, budget = { compute = 0 }, capture = { has_calls = false, has_os_calls = true, has_gpu_samples = false, has_memory = false } },
      expect = "not_applicable" },
    { name = "calls are missing",
      facts = { window = { time = 1e9 }, budget = { compute = 6e7 }, capture = { has_calls = false, has_os_calls = true, has_gpu_samples = false, has_memory = false } },
      expect = { count = 1, missing = "CUDA calls" } },
    { name = "near miss: no calls of the operating system, which the head of the report says",
      facts = { window = { time = 1e9 }, budget = { compute = 9e8 },
                capture = { has_calls = true, has_os_calls = false, has_gpu_samples = true, has_memory = true } },
      expect = "silent" },
    { name = "everything was recorded",
      facts = { window = { time = 1e9 }, capture = { has_calls = true, has_os_calls = true, has_gpu_samples = true, has_memory = true } },
      expect = "not_applicable" },
    { name = "the input does not say what was recorded", facts = {}, expect = "cannot_tell" },
  },
}
