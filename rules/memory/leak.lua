-- The memory in use at the end of a step is higher than at the end of the step before, nearly each time: something keeps
-- references to results of every step. The run slows down for the allocations that a caching allocator would not need,
-- and dies when the memory is full.
local function WhyItStays(languages)
  if languages and not contains(languages, "Python") then
    return "Memory that each step allocates is not freed, or results of past steps are kept."
  end
  return "Tensors of past steps are still referenced: often it is a loss that is kept for logging, together with the graph that made it."
end

return {
  id        = "memory/leak",
  title     = "Stop keeping results of every step on the GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  risk      = "out-of-memory",
  priority  = 82,
  explains  = { "memory/alloc-in-loop", "memory/near-capacity" },
  knowledge = { "K-C8" },

  needs      = { "window.device_time", "steps.count", "memory.growth_per_step", "memory.growth_steps" },
  optional   = { "memory.peak", "memory.capacity", "memory.kept.lost", "memory.kept.remedy", "run.languages" },
  thresholds = { "min_growth", "min_growth_steps", "min_steps" },

  symptom = "Device memory grows by {growth:bytes} per step, in {growing:pct} of the {steps:count} steps{left_text:text}.",
  cause   = "{why:text}",
  fixes   = {
    { action  = "Move results off the GPU, and keep no graph of what made them",
      snippet = "with torch.inference_mode():\n    results.append(model(x).cpu())", language = "python", ["for"] = { "pytorch", "inference" } },
    { action  = "Keep values without the graph that computed them",
      snippet = [[losses.append(loss.detach())         # instead of: losses.append(loss)
total += loss.detach()               # instead of: total += loss]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Find out who holds the memory",
      snippet = [[torch.cuda.memory._record_memory_history()
...                                  # a few steps
torch.cuda.memory._dump_snapshot("memory.pickle")    # open at pytorch.org/memory_viz]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Look for lists, caches and hooks that keep outputs, for retain_graph=True, and for a missing cudaFree in your own code", ["for"] = { "pytorch" } },
    { action = "In CUDA C++, let compute-sanitizer list allocations that are never freed",
      snippet = "compute-sanitizer --leak-check full ./program", language = "bash", ["for"] = { "c++", "fortran", "openacc", "openmp" } },
    { action = "Find out which arrays are kept",
      snippet = "jax.profiler.save_device_memory_profile(\"memory.prof\")   # open it with pprof", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Caches that grow by design, such as the keys and values of a sequence that is being generated, or a replay buffer.",
  references = { "pytorch/memory-snapshot", "pytorch/memory-management" },

  applies = function(f) return f.memory.growth_per_step > 0, "device memory does not grow from step to step" end,

  detect = function(f, t)
    if not at_least(f.steps.count, t.min_steps) then return nil end
    if not at_least(f.memory.growth_steps, t.min_growth_steps) then return nil end
    if not at_least(f.memory.growth_per_step, t.min_growth) then return nil end
    local left = nil
    if f.memory.peak and f.memory.capacity then
      left = math.max(0, math.floor((f.memory.capacity - f.memory.peak) / f.memory.growth_per_step))
    end
    return { growth = f.memory.growth_per_step, growing = f.memory.growth_steps, steps = f.steps.count, peak = f.memory.peak,
             left = left, why = WhyItStays(f.run.languages),
             left_text = left == nil and "" or left < 2 and "; at this rate, the next steps fill it"
               or "; at this rate, memory is full after " .. tostring(left) .. " more steps" }
  end,

  saving = function(f)
    if f.memory.kept.lost == nil or f.memory.kept.remedy == nil or f.memory.kept.lost.time == 0 then return nil end
    return { claims = f.memory.kept.lost, remedy = f.memory.kept.remedy, confidence = 0.6,
             basis = "memory does not grow; the cost of running out of memory is not counted" }
  end,

  tests = {
    { name = "700 MB a step",
      edges = { ["memory.growth_per_step"] = 1e6, ["steps.count"] = 6 },
      facts = { window = { device_time = 3e9 }, steps = { count = 30 },
                memory = { growth_per_step = 7e8, growth_steps = 1, peak = 4.5e10, capacity = 8e10,
                           kept = { lost = 6e7, remedy = true } } },
      expect = { growth = 7e8, growing = 1, steps = 30, left = 50, left_text = "; at this rate, memory is full after 50 more steps" },
      saving = { claims = 6e7, confidence = 0.6 } },
    { name = "the capacity is not known",
      facts = { window = { device_time = 3e9 }, steps = { count = 30 }, memory = { growth_per_step = 7e8, growth_steps = 0.9 } },
      expect = { growing = 0.9, left_text = "" } },
    { name = "a program in CUDA C++",
      facts = { window = { device_time = 3e9 }, steps = { count = 30 }, memory = { growth_per_step = 7e8, growth_steps = 0.9 }, run = { languages = "CUDA C++" } },
      expect = { why = "Memory that each step allocates is not freed, or results of past steps are kept." } },
    { name = "near miss: the level goes up and down",
      facts = { window = { device_time = 3e9 }, steps = { count = 30 }, memory = { growth_per_step = 1e6, growth_steps = 0.55 } },
      expect = "silent" },
    { name = "near miss: three steps in which caches fill up",
      facts = { window = { device_time = 3e9 }, steps = { count = 3 }, memory = { growth_per_step = 7e8, growth_steps = 1 } },
      expect = "silent" },
    { name = "near miss: a few bytes a step",
      facts = { window = { device_time = 3e9 }, steps = { count = 30 }, memory = { growth_per_step = 512, growth_steps = 1 } },
      expect = "silent" },
    { name = "the level stays",
      facts = { window = { device_time = 3e9 }, steps = { count = 30 }, memory = { growth_per_step = 0, growth_steps = 0 } },
      expect = "not_applicable" },
    { name = "memory events were not recorded", facts = { window = { device_time = 3e9 }, steps = { count = 30 } },
      expect = "cannot_tell" },
  },
}
