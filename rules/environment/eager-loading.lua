-- CUDA_MODULE_LOADING=EAGER loads every kernel of every library at the start: thousands for PyTorch, a few of which run.
return {
  id        = "environment/eager-loading",
  title     = "Load kernels when they are first used: unset CUDA_MODULE_LOADING",
  status    = "stable",
  since     = "0.2",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-C7" },

  needs      = { "environment.recorded" },
  optional   = { "environment.module_loading", "startup.code", "window.time" },
  thresholds = { "min_share" },

  symptom = "CUDA_MODULE_LOADING is {value:text}, and the host loads code for {share:pct} of the time, {code:time}.",
  cause   = "Each process loads all kernels of its libraries at the start, and keeps them in device memory. Most of them never run.",
  fixes   = {
    { action = "Unset it; since CUDA 12.2, kernels are loaded when they are first called", snippet = "unset CUDA_MODULE_LOADING     # or LAZY, with CUDA 11.7 to 12.1", language = "bash" },
    { action = "If first calls must not be slow, run each shape once before the loop instead" },
  },
  false_positives = "Servers for which the first request counts more than the start.",
  references = { "cuda-programming/lazy-loading" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return (f.environment.module_loading or ""):lower() == "eager", "CUDA_MODULE_LOADING does not ask for eager loading"
  end,

  detect = function(f, t)
    if f.startup.code == nil or f.window.time == nil then return nil end
    local part = share(f.startup.code, f.window.time)
    if not at_least(part, t.min_share) then return nil end
    return { value = f.environment.module_loading, share = part, code = f.startup.code }
  end,

  tests = {
    { name = "a third of the time loads code",
      edges = { ["startup.code"] = 5e7 },
      facts = { environment = { recorded = true, module_loading = "EAGER" }, startup = { code = 3e8 }, window = { time = 1e9 } },
      expect = { value = "EAGER", share = 0.3, code = 3e8 } },
    { name = "near miss: a long run",
      facts = { environment = { recorded = true, module_loading = "EAGER" }, startup = { code = 1e7 }, window = { time = 1e9 } }, expect = "silent" },
    { name = "near miss: its start was not recorded", facts = { environment = { recorded = true, module_loading = "EAGER" }, window = { time = 1e9 } }, expect = "silent" },
    { name = "lazy", facts = { environment = { recorded = true, module_loading = "LAZY" } }, expect = "not_applicable" },
    { name = "it is not set", facts = { environment = { recorded = true } }, expect = "not_applicable" },
  },
}
