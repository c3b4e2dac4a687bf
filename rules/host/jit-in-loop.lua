-- Code is compiled or loaded in the middle of steady steps. At the start this is normal (see step/cold-start), so without steps
-- this rule does not judge.
return {
  id        = "host/jit-in-loop",
  title     = "Compile and load GPU code before the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  priority  = 80,
  explains  = { "host/cpu-bound", "step/outlier", "step/jitter" },
  knowledge = { "K-A2", "K-C7" },
  effort    = "code",

  needs      = { "host.jit.count", "host.jit.time", "host.jit.lost", "host.jit.remedy", "steps.count", "window.device_time" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_count", "min_steps" },

  symptom = "In {steps:count} steady steps GPU code was compiled or loaded {count:count} times; the GPU waits for it {share:pct} of the time.",
  cause   = "New shapes, types or code paths still turn up in the loop, and each makes the compiler or the driver build or load another kernel while the GPU waits.",
  fixes   = {
    { action = "Find what makes torch.compile start again, and mark it as dynamic or pad it",
      snippet = "TORCH_LOGS=recompiles python train.py\n# then: model = torch.compile(model, dynamic=True)", language = "bash" },
    { action = "Keep shapes fixed: pad batches to a few sizes and drop the last, smaller one",
      snippet = "loader = DataLoader(dataset, batch_size=64, drop_last=True)", language = "python" },
    { action = "Run each shape once before the loop, and load all modules at the start",
      snippet = "CUDA_MODULE_LOADING=EAGER python train.py", language = "bash" },
    { action = "In CUDA C++ keep modules loaded (no cuModuleLoad or NVRTC in the loop), and build for the GPU at hand instead of PTX",
      snippet = "nvcc -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90 app.cu", language = "bash" },
  },
  false_positives = "A capture whose first steps could not be told from steady ones.",
  references = { "pytorch/compile", "cuda-programming/lazy-loading" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.host.jit.count > 0, "no code was compiled or loaded in the window"
  end,

  detect = function(f, t)
    local jit = f.host.jit
    local lost = share(jit.lost.time, f.window.device_time)
    if not at_least(f.steps.count, t.min_steps) or not at_least(jit.count, t.min_count) or not at_least(lost, t.min_share) then
      return nil
    end
    return { share = lost, count = jit.count, time = jit.time, steps = f.steps.count }
  end,

  saving = function(f)
    return { claims = f.host.jit.lost, remedy = f.host.jit.remedy, confidence = 0.85,
             basis = "no compilation or loading in the loop" }
  end,

  tests = {
    { name = "a compilation in each of ten steps",
      facts = { window = { device_time = 1e9 }, steps = { count = 10 },
                host = { jit = { count = 10, time = 4e8, lost = 3e8, remedy = true } } },
      expect = { share = 0.3, count = 10, time = 4e8, steps = 10 },
      saving = { claims = 3e8 } },
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
