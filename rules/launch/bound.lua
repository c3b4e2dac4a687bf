-- The host cannot launch as fast as the GPU computes: short gaps lie between the kernels, behind launches that came when
-- the GPU had nothing left to do. Gaps that waits, loading and copies make are not among them, and launches behind a
-- full queue, which take long because they are held back, leave none.
local slower = "Launching each kernel, with the code around it, takes longer on the host than the kernel takes on the GPU."
local at_times = "Where the GPU has run out of work, it waits while the host prepares and launches the next kernel."

-- These of PyTorch's optimizers have a fused form on GPUs; others have a multi-tensor form.
local fused = { "Adam", "AdamW", "SGD" }
local function form_of(optimizer)
  for _, name in ipairs(fused) do if optimizer == name then return "fused" end end
  return "foreach"
end

-- Their users do not write the loop that launches, and each level of a tree needs the splits of the one before.
local libraries = { XGBoost = true, LightGBM = true }

return {
  id        = "launch/bound",
  title     = "Reduce launch work: the GPU waits for the host between kernels",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 50,
  explains  = { "launch/tiny-kernels", "launch/host-op-overhead", "host/cpu-bound", "host/tensor-conversions", "step/backward-gaps" },
  knowledge = { "K-A1", "K-B3", "K-A8" },

  needs      = { "window.device_time", "launch.count", "launch.queue_empty", "launch.call.median", "launch.kernel.median",
                 "launch.bound.count", "launch.bound.lost", "launch.bound.remedy" },
  optional   = { "launch.kernels_per_step", "window.supports_verdict", "run.framework", "run.kind", "run.optimizer", "startup.time", "phase.optimizer.lost" },
  thresholds = { "min_share", "min_gap_of_kernel", "min_gap_of_call", "min_launches_of_pass", "max_start_up", "mostly_optimizer", "mostly_empty" },

  symptom = "Gaps between kernels add up to {share:pct} of the time: the median gap takes {gap:time}, the median kernel {kernel:time}. {empty:pct} of the launches find the GPU idle.",
  cause   = "{why:text}",
  fixes   = {
    { action  = "Update all weights with a few launches: use a fused or multi-tensor optimizer", reason = "optimizer",
      snippet = "optimizer = torch.optim.{optimizer:function}(model.parameters(), lr=lr, {form:function}=True)", language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Compile the model: fused kernels are fewer, and CUDA graphs launch them together",
      snippet = 'model = torch.compile(model, mode="reduce-overhead")', language = "python", ["for"] = { "pytorch" } },
    { action  = "Give each kernel more work: use a larger batch",
      snippet = "loader = DataLoader(dataset, batch_size=4 * B)", language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Give each kernel more work: process more sequences or samples at a time", ["for"] = { "inference" } },
    { action  = "Use implementations that process many tensors in one launch", reason = "!optimizer",
      snippet = "optimizer = torch.optim.{optimizer:function}(model.parameters(), {form:function}=True)", language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Give each call of a compiled function more work: put all operations of a step into one, and several steps into one scan",
      snippet = "params, losses = jax.lax.scan(train_step, params, batches)   # one call for many steps", language = "python", ["for"] = { "jax", "training" } },
    { action = "Let XLA launch series of kernels as CUDA graphs (command buffers)",
      snippet = "export XLA_FLAGS=\"--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUDNN --xla_gpu_graph_min_graph_size=1\"", language = "bash", ["for"] = { "jax", "nvidia" } },
    { action = "Fuse chains of array operations (cupy.fuse), or capture their launches as a CUDA graph",
      snippet = [[stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    step()                                # once, so that memory is allocated and kernels are compiled
    stream.begin_capture()
    step()
    graph = stream.end_capture()
graph.launch(stream)                      # each step]], language = "python", ["for"] = { "cupy" } },
    { action = "Do more in each kernel, and launch on arrays that are on the GPU: Numba prepares each argument of each launch",
      ["for"] = { "numba" } },
    { action = "In CUDA C++, capture the sequence of launches as a CUDA graph, or merge consecutive kernels",
      snippet = "cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);\nstep(stream);\ncudaStreamEndCapture(stream, &graph);\ncudaGraphInstantiate(&executable, graph, 0);\ncudaGraphLaunch(executable, stream);       // each step", language = "cpp", ["for"] = { "c++" } },
    { action = "Keep other work off the launching thread: logging, metrics and Python loops over small arrays", ["for"] = { "python" } },
    { action = "With OpenACC or OpenMP, queue regions without waiting (async, nowait), and merge neighboring regions", ["for"] = { "openacc", "openmp", "fortran" } },
    { action = "Keep other work, such as logging and output, off the launching thread", ["for"] = { "c++", "fortran", "openacc", "openmp", "mpi" } },
  },
  false_positives = "The profiler makes each launch slower. A run that is only slightly launch-bound may not be so without it.",
  references = { "pytorch/compile", "pytorch/cuda-graphs", "cuda-programming/graphs" },

  applies = function(f, t)
    if libraries[f.run.framework or ""] then return false, "a library launches the kernels, as its algorithm needs them" end
    if f.window.supports_verdict == false then
      -- The eager launches of one warm pass are those of the next. The first pass loads code.
      if f.run.kind == "kernels" or f.run.kind == "start-up" or not at_least(f.launch.count, t.min_launches_of_pass) then
        return false, "too little of a loop was recorded: a start, a single pass or a few steps"
      end
      if f.startup.time and at_least(share(f.startup.time, f.window.device_time), t.max_start_up) then
        return false, "the only pass loads code or allocates memory, as first passes do"
      end
    end
    return f.launch.count > 0, "nothing was launched"
  end,

  detect = function(f, t)
    local lost = share(f.launch.bound.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    -- The mean, not the median: where the host is late only now and then, most gaps are the usual microsecond.
    local gap = share(f.launch.bound.lost.time, f.launch.bound.count)
    local of_kernel = share(gap, f.launch.kernel.median)
    local of_call = share(gap, f.launch.call.median)
    if not at_least(of_kernel, t.min_gap_of_kernel) and not at_least(of_call, t.min_gap_of_call) then return nil end
    -- Gaps in the optimizer have a cheaper fix than the rest of the step.
    local of_optimizer = share(f.phase.optimizer.lost and f.phase.optimizer.lost.time or 0, f.launch.bound.lost.time)
    local reason = at_least(of_optimizer, t.mostly_optimizer) and "optimizer" or nil
    local why = at_least(gap, f.launch.kernel.median) and at_least(f.launch.queue_empty, t.mostly_empty) and slower or at_times
    local optimizer = f.run.optimizer or "AdamW"
    return { share = lost, why = why, reason = reason, optimizer = optimizer, form = form_of(optimizer), empty = f.launch.queue_empty, gap = gap, kernel = f.launch.kernel.median,
             call = f.launch.call.median, launches = f.launch.count, kernels_per_step = f.launch.kernels_per_step }
  end,

  saving = { claims = "launch.bound.lost", remedy = "launch.bound.remedy", confidence = 0.7,
             basis = "the gaps between kernels are gone, as far as other host work allows" },

  tests = {
    { name = "a few kernels show no loop",
      facts = { window = { supports_verdict = false, device_time = 1e9 }, run = { kind = "kernels" },
                launch = { count = 20, queue_empty = 0.93, kernels_per_step = 20, call = { median = 5000 },
                           kernel = { median = 9000 }, bound = { count = 20, lost = 4.5e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "a first pass loads code",
      edges = { ["startup.time"] = 5e7 },
      facts = { window = { supports_verdict = false, device_time = 1e9 }, run = { kind = "one-pass" }, startup = { time = 2e8 },
                launch = { count = 500, queue_empty = 0.93, kernels_per_step = 500, call = { median = 5000 },
                           kernel = { median = 9000 }, bound = { count = 500, lost = 4.5e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "one warm pass of small kernels",
      edges = { ["launch.bound.lost"] = 1.52e5, ["launch.count"] = 50, ["launch.queue_empty"] = 0.5 },
      facts = { window = { supports_verdict = false, device_time = 7.6e6 }, run = { kind = "one-pass" }, startup = { time = 0 },
                launch = { count = 154, queue_empty = 0.96, kernels_per_step = 154, call = { median = 4630 },
                           kernel = { median = 8224 }, bound = { count = 150, lost = 4.4e6, remedy = true } } },
      expect = { launches = 154, gap = 4.4e6 / 150,
                 why = "Launching each kernel, with the code around it, takes longer on the host than the kernel takes on the GPU." },
      saving = { claims = 4.4e6, confidence = 0.7 } },
    { name = "gaps as long as the kernels",
      edges = { ["launch.bound.lost"] = 5.06e7 },
      facts = { window = { device_time = 1e9 },
                launch = { count = 50000, queue_empty = 0.93, kernels_per_step = 1000, call = { median = 5000 },
                           kernel = { median = 9000 }, bound = { count = 56250, lost = 4.5e8, remedy = true } } },
      expect = { share = 0.45, empty = 0.93, gap = 8000, kernel = 9000, call = 5000, launches = 50000, kernels_per_step = 1000,
                 why = "Where the GPU has run out of work, it waits while the host prepares and launches the next kernel." },
      saving = { claims = 4.5e8, confidence = 0.7 } },
    { name = "most gaps are in the optimizer",
      edges = { ["phase.optimizer.lost"] = 2.25e8 },
      facts = { window = { device_time = 1e9 }, run = { optimizer = "Adagrad" }, phase = { optimizer = { lost = 3e8 } },
                launch = { count = 50000, queue_empty = 0.93, kernels_per_step = 1000, call = { median = 5000 },
                           kernel = { median = 9000 }, bound = { count = 56250, lost = 4.5e8, remedy = true } } },
      expect = { share = 0.45, reason = "optimizer", optimizer = "Adagrad", form = "foreach" }, saving = { claims = 4.5e8, confidence = 0.7 } },
    { name = "launches of a part of each step come late",
      facts = { window = { device_time = 1e9 },
                launch = { count = 50000, queue_empty = 0.2, kernels_per_step = 1000, call = { median = 5000 },
                           kernel = { median = 9000 }, bound = { count = 10000, lost = 1e8, remedy = true } } },
      expect = { share = 0.1, empty = 0.2, gap = 10000 }, saving = { claims = 1e8, confidence = 0.7 } },
    { name = "near miss: tiny kernels behind a full queue",
      facts = { window = { device_time = 1e9 },
                launch = { count = 50000, queue_empty = 0.01, call = { median = 30000 },
                           kernel = { median = 3000 }, bound = { count = 500, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the queue runs dry after waits, gaps are short otherwise",
      edges = { ["launch.bound.lost"] = 8.33e7 },
      facts = { window = { device_time = 1e9 },
                launch = { count = 5000, queue_empty = 0.6, call = { median = 5000 },
                           kernel = { median = 200000 }, bound = { count = 33333, lost = 4e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: an empty queue that costs little",
      facts = { window = { device_time = 1e9 },
                launch = { count = 500, queue_empty = 0.9, call = { median = 5000 },
                           kernel = { median = 2000000 }, bound = { count = 450, lost = 4e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the levels of a tree, inside a library",
      facts = { window = { device_time = 1e9 }, run = { framework = "XGBoost" },
                launch = { count = 50000, queue_empty = 0.3, kernels_per_step = 25, call = { median = 5000 },
                           kernel = { median = 140000 }, bound = { count = 10000, lost = 4e7, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was launched", facts = { window = { device_time = 1e9 }, launch = { count = 0 } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
