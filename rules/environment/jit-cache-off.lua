-- PTX is compiled again at each start when the cache is off; with one process a GPU, by all of them at once.
return {
  id        = "environment/jit-cache-off",
  title     = "Keep the cache of compiled kernels",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-A2", "K-C7" },

  needs      = { "environment.recorded" },
  optional   = { "environment.cache_disable" },
  thresholds = {},

  symptom = "CUDA_CACHE_DISABLE is {value:text}: PTX is compiled at each start.",
  cause   = "The cache was turned off, perhaps because the home directory is slow or full.",
  fixes   = {
    { action  = "Put the cache on a local file system instead",
      snippet = [[unset CUDA_CACHE_DISABLE
export CUDA_CACHE_PATH=/tmp/$USER/cuda-cache]],
      language = "bash" },
    { action  = "Build for this GPU, so that nothing is compiled at the start",
      snippet = "nvcc -gencode arch=compute_90,code=sm_90 app.cu",
      language = "bash", ["for"] = { "c++", "nvidia" } },
  },
  false_positives = "Measuring the compile time.",
  references = { "cuda-programming/lazy-loading" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.cache_disable ~= nil, "CUDA_CACHE_DISABLE is not set"
  end,

  detect = function(f, t)
    local value = f.environment.cache_disable
    if value == "0" or value:lower() == "false" or value:lower() == "off" then return nil end
    return { value = value }
  end,

  tests = {
    { name = "off",
      facts = { environment = { recorded = true, cache_disable = "1" } },
      expect = { value = "1" } },
    { name = "near miss: on",
      facts = { environment = { recorded = true, cache_disable = "0" } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false } },
      expect = "not_applicable" },
  },
}
