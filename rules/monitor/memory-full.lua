-- Nearly all memory of a GPU was in use. Allocators keep what they once took, so this is no fault; but the next larger batch may
-- end the job.
return {
  id        = "monitor/memory-full",
  title     = "Keep some GPU memory free for larger batches",
  status    = "stable",
  since     = "0.2",
  kind      = "info",
  knowledge = { "K-C4", "K-O7" },
  effort    = "flag",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.memory.peak", "monitor.memory.capacity" },
  optional   = { "run.framework", "server.name" },
  thresholds = { "min_used" },

  symptom = "At most {peak:bytes} of {capacity:bytes} of GPU memory were in use ({used:pct}).",
  cause   = "Frameworks keep memory that they once took, so part of it may be free inside. If none is, a longer sequence or a larger batch runs out of memory.",
  fixes   = {
    { action = "See how much of it is in use inside the framework", snippet = "print(torch.cuda.memory_summary())", language = "python", ["for"] = { "pytorch" } },
    { action = "Let segments of the allocator grow, which loses less memory to fragmentation",
      snippet = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True   # PyTorch 2.9 and later: PYTORCH_ALLOC_CONF", language = "bash", ["for"] = { "pytorch", "nvidia" } },
  },
  false_positives = "Programs that take nearly all memory at the start and manage it themselves: servers of language models, JAX, TensorFlow.",
  references = { "nvidia/smi", "pytorch/memory-management" },

  applies = function(f)
    if f.monitor.gpus == 0 then return false, "no monitor log was given" end
    local own = f.server.name or f.run.framework or ""
    for _, name in ipairs({ "vLLM", "SGLang", "TensorRT-LLM", "JAX", "TensorFlow" }) do
      if own == name then return false, name .. " takes nearly all memory at the start and manages it itself" end
    end
    return f.monitor.memory.capacity > 0, "the memory of the GPU is not known"
  end,

  detect = function(f, t)
    local used = share(f.monitor.memory.peak, f.monitor.memory.capacity)
    if not at_least(used, t.min_used) then return nil end
    return { used = used, peak = f.monitor.memory.peak, capacity = f.monitor.memory.capacity }
  end,

  tests = {
    { name = "all but a gigabyte", edges = { ["monitor.memory.capacity"] = 8.144329896907217e10 },
      facts = { monitor = { gpus = 1, memory = { peak = 7.9e10, capacity = 8e10 } } }, expect = { used = 0.9875 } },
    { name = "near miss: well filled", facts = { monitor = { gpus = 1, memory = { peak = 7.2e10, capacity = 8e10 } } }, expect = "silent" },
    { name = "a server fills it on purpose", facts = { monitor = { gpus = 1, memory = { peak = 7.9e10, capacity = 8e10 } }, run = { framework = "vLLM" } },
      expect = "not_applicable" },
    { name = "the log of a server stands beside it", facts = { monitor = { gpus = 1, memory = { peak = 7.9e10, capacity = 8e10 } }, server = { name = "SGLang" } },
      expect = "not_applicable" },
    { name = "the board is not known", facts = { monitor = { gpus = 1, memory = { peak = 7.9e10, capacity = 0 } } }, expect = "not_applicable" },
    { name = "no monitor", facts = { monitor = { gpus = 0 } }, expect = "not_applicable" },
    { name = "memory was not logged", facts = { monitor = { gpus = 1 } }, expect = "cannot_tell" },
  },
}
