-- Code is compiled or loaded in the middle of steady steps. At the start this is normal (see step/cold-start), so without steps
-- this rule does not judge.
return {
  id        = "host/jit-in-loop",
  title     = "Compile and load GPU code before the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 80,
  explains  = { "host/cpu-bound", "step/outlier", "step/jitter" },
  knowledge = { "K-A2", "K-C7" },
  effort    = "code",

  needs_loop     = true,
  loss           = "host.jit",
  not_applicable = "no code was compiled or loaded in the window",
  evidence       = { "count", "time", steps = "steps.count" },
  optional       = { "environment.module_loading" },
  thresholds     = { "min_share", "min_count", "min_steps" },

  symptom = "GPU code was compiled or loaded {count:count} times in the {steps:count} steps after the warm-up. The GPU waits {share:pct} of the time for that.",
  cause   = "New shapes, types or code paths still appear in the loop, and each makes the compiler or the driver build or load another kernel while the GPU waits.",
  fixes   = {
    { action = "Find what makes torch.compile recompile, and mark it as dynamic or pad it",
      snippet = "TORCH_LOGS=recompiles python train.py\n# then: model = torch.compile(model, dynamic=True)", language = "bash", ["for"] = { "pytorch" } },
    { action = "Keep shapes fixed: pad batches to a few sizes and drop the last, smaller one",
      snippet = "loader = DataLoader(dataset, batch_size=64, drop_last=True)", language = "python", ["for"] = { "pytorch" } },
    { action = "Find out what makes jax.jit compile again, and keep shapes, types and static arguments fixed",
      snippet = "jax.config.update(\"jax_explain_cache_misses\", True)   # then pad batches to a few sizes", language = "python", ["for"] = { "jax" } },
    { reason = "!eager", action = "Run each shape once before the loop, and load all modules at the start",
      snippet = "CUDA_MODULE_LOADING=EAGER COMMAND", language = "bash" },
    { reason = "eager", action = "Run each shape once before the loop" },
    { action = "In CUDA C++, keep modules loaded (no cuModuleLoad or NVRTC in the loop), and build for this GPU instead of PTX",
      snippet = "nvcc -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90 app.cu", language = "bash", ["for"] = { "c++", "nvidia" } },
  },
  false_positives = "A capture whose first steps could not be separated from steady ones.",
  references = { "pytorch/compile", "cuda-programming/lazy-loading" },

  detect = function(f, t, e)
    -- All modules are loaded at the start already: what comes in the loop is compiled.
    e.reason = (f.environment.module_loading or ""):lower() == "eager" and "eager" or nil
    return e
  end,

  saving = { confidence = 0.85, basis = "nothing is compiled or loaded in the loop" },

  tests = {
    { name = "a compilation in each of ten steps",
      edges = { ["host.jit.count"] = 2, ["host.jit.lost"] = 1e7, ["steps.count"] = 3 },
      facts = { window = { device_time = 1e9 }, steps = { count = 10 },
                host = { jit = { count = 10, time = 4e8, lost = 3e8, remedy = true } } },
      expect = { share = 0.3, count = 10, time = 4e8, steps = 10 },
      saving = { claims = 3e8 } },
    { name = "all modules are loaded at the start already",
      facts = { window = { device_time = 1e9 }, steps = { count = 10 }, environment = { module_loading = "EAGER" },
                host = { jit = { count = 10, time = 4e8, lost = 3e8, remedy = true } } },
      expect = { share = 0.3, reason = "eager" } },
    { name = "near miss: loads behind a full queue",
      facts = { window = { device_time = 1e9 }, steps = { count = 10 },
                host = { jit = { count = 10, time = 4e8, lost = 2e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: a single late load",
      facts = { window = { device_time = 1e9 }, steps = { count = 10 },
                host = { jit = { count = 1, time = 4e7, lost = 4e7, remedy = true } } },
      expect = "silent" },
    { name = "all code was there",
      facts = { window = { device_time = 1e9 }, steps = { count = 10 }, host = { jit = { count = 0, time = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "no steps: it may all be start-up",
      facts = { window = { device_time = 1e9 }, host = { jit = { count = 10, time = 4e8, lost = 3e8, remedy = true } } },
      expect = "cannot_tell" },
  },
}
