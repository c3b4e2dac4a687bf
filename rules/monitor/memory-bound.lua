-- Device memory moves data in nearly all cycles, by DCGM's own count: kernels run as fast as memory lets them. Only fewer bytes help.
return {
  id        = "monitor/memory-bound",
  title     = "Move fewer bytes: device memory limits the kernels",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 50,
  knowledge = { "K-O6", "K-F6" },
  effort    = "code",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.samples" },
  optional   = { "monitor.dram_active", "monitor.tensor_active" },
  thresholds = { "min_samples", "min_dram" },

  symptom = "According to DCGM, device memory moves data in {dram:pct} of the cycles{tensor_text:text}. That is about as much as memory can move.",
  cause   = "Kernels wait for device memory. Higher clocks, other launch settings or faster arithmetic do not help; fewer bytes do.",
  fixes   = {
    { action = "Join operations that work on the same data, so that it is read and written once",
      snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
    { action = "Store data in smaller types: bf16 or fp8 in place of fp32, quantized weights for inference" },
    { action = "If a model generates text, process more requests at once: each reads the same weights" },
    { action = "Find the kernels that move most, and reuse data in registers, shared memory and cache",
      snippet = "nsys profile --trace=cuda,nvtx --gpu-metrics-devices=all --duration=30 -o run -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Work that has to read that much, such as decoding with a large model: then the GPU is used well.",
  references = { "nvidia/dcgm", "nvidia/gpu-background" },

  applies = function(f)
    if f.monitor.gpus == 0 then return false, "no monitor log was given" end
    return f.monitor.dram_active ~= nil, "the log does not count the traffic of device memory"
  end,

  detect = function(f, t)
    if not at_least(f.monitor.samples, t.min_samples) or not at_least(f.monitor.dram_active, t.min_dram) then return nil end
    local tensor = f.monitor.tensor_active
    return { dram = f.monitor.dram_active, tensor_text = tensor and ", and the tensor cores work in " .. in_words(tensor, "pct") or "" }
  end,

  tests = {
    { name = "at the ceiling, with idle tensor cores",
      edges = { ["monitor.samples"] = 20, ["monitor.dram_active"] = 0.75 },
      facts = { monitor = { gpus = 1, samples = 60, dram_active = 0.921, tensor_active = 0.004 } },
      expect = { dram = 0.921, tensor_text = ", and the tensor cores work in 0.4 %" } },
    { name = "the tensor cores were not logged", facts = { monitor = { gpus = 1, samples = 60, dram_active = 0.8 } }, expect = { tensor_text = "" } },
    { name = "near miss: half of the cycles", facts = { monitor = { gpus = 1, samples = 60, dram_active = 0.5, tensor_active = 0.4 } }, expect = "silent" },
    { name = "near miss: a handful of samples", facts = { monitor = { gpus = 1, samples = 3, dram_active = 0.9 } }, expect = "silent" },
    { name = "nvidia-smi does not count it", facts = { monitor = { gpus = 1, samples = 60 } }, expect = "not_applicable" },
    { name = "no monitor", facts = { monitor = { gpus = 0, samples = 0 } }, expect = "not_applicable" },
  },
}
