-- No loop was recorded, and much of the time loads code, allocates memory for the first time or brings weights to the GPU.
-- That is paid once: short jobs, tests and cold servers pay for little else, and everybody else should not measure it. A
-- training job runs for hours after it, so there it is only said.

-- "24.6 s", "0.35 s"
-- Three digits, as other times of the report have.
return {
  id        = "host/start-up",
  title     = "Shorten the start-up, or record what comes after it",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 85,
  explains  = { "host/jit-in-loop", "memory/alloc-in-loop", "memory/pinning-in-loop", "transfer/copy-dominates",
                "transfer/exposed-copy", "host/cpu-bound", "launch/slow-calls" },
  knowledge = { "K-C7", "K-A2", "K-O5" },

  needs      = { "window.device_time", "window.time", "run.trains" },
  optional   = { "startup.time", "startup.code", "startup.compile", "startup.allocation", "startup.upload", "startup.before", "startup.before_call",
                 "startup.before_call_time", "startup.lost" },
  thresholds = { "min_share", "winnable", "min_before" },

  symptom = "Start-up takes {share:pct} of the time. For {most:time} of it, the program {goes:text}.{before_text:text}",
  cause   = "{why:text} Each process pays for that once. No loop was recorded after it.",
  fixes   = {
    { reason = "compile", action  = "For short jobs and cold servers, keep compiled code from run to run",
      snippet = [[export CUDA_CACHE_PATH=DIRECTORY/cuda CUDA_CACHE_MAXSIZE=4294967296      # a directory that can be written
export TORCHINDUCTOR_CACHE_DIR=DIRECTORY/inductor TRITON_CACHE_DIR=DIRECTORY/triton]],
      language = "bash", ["for"] = { "pytorch", "nvidia" } },
    { reason = "compile", action  = "For short jobs and cold servers, keep compiled code from run to run",
      snippet = "export MIOPEN_USER_DB_PATH=DIRECTORY/miopen TORCHINDUCTOR_CACHE_DIR=DIRECTORY/inductor TRITON_CACHE_DIR=DIRECTORY/triton",
      language = "bash", ["for"] = { "pytorch", "amd" } },
    { reason = "compile", action  = "For short jobs and cold servers, keep compiled programs from run to run",
      snippet = "export JAX_COMPILATION_CACHE_DIR=DIRECTORY/jax", language = "bash", ["for"] = { "jax" } },
    { reason = "compile", action = "For short jobs, keep the kernels that CuPy compiles in a directory that all nodes see",
      snippet = "export CUPY_CACHE_DIR=DIRECTORY/cupy", language = "bash", ["for"] = { "cupy" } },
    { reason = "compile", action = "Compile for this GPU, so that no PTX is compiled at the start", snippet = "nvcc -arch=native",
      language = "bash", ["for"] = { "c++", "nvidia" } },
    { reason = "allocation", action = "Reserve memory in one piece: let the first pass use the largest shapes", ["for"] = { "pytorch" } },
    { reason = "allocation", action = "Allocate once at the start, or from a pool (cudaMallocAsync)", ["for"] = { "c++" } },
    { action = "For a short job, give one process many inputs; for a server, send a warm-up request before the first user's",
      ["for"] = { "python", "pytorch", "jax", "cupy" } },
    { action = "For short jobs, give one process many inputs, so that they share one start", ["for"] = { "c++" } },
    { reason = "load", action = "Load only kernels that are called: it is the default since CUDA 12.2", snippet = "export CUDA_MODULE_LOADING=LAZY",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "load", action = "Compile for the GPUs that you have only, so that less code is loaded", snippet = "nvcc -arch=native",
      language = "bash", ["for"] = { "c++", "nvidia" } },
    { action  = "For a long job, record the work after the start: that saves nothing, but shows what takes the job's time",
      snippet = [[# torch.profiler: schedule(wait=5, warmup=3, active=10), and prof.step()
# nsys: torch.cuda.profiler.start() after the warm-up, .stop() later
nsys profile --capture-range=cudaProfilerApi --capture-range-end=stop -o run -- COMMAND]],
      language = "bash", ["for"] = { "pytorch", "nvidia" } },
    { action  = "For a long job, record the work after the start: that saves nothing, but shows what takes the job's time",
      snippet = "profile(schedule=schedule(wait=5, warmup=3, active=10))   # and prof.step() after each step",
      language = "python", ["for"] = { "pytorch", "amd" } },
    { action = "For a long job, record the work after the start: call cudaProfilerStart() after the first iterations. That saves nothing, but shows what takes the job's time",
      snippet = "nsys profile --capture-range=cudaProfilerApi --capture-range-end=stop -o run -- COMMAND", language = "bash", ["for"] = { "c++", "cupy", "nvidia" } },
    { action = "Where the first CUDA call takes seconds, keep the driver loaded (persistence mode), and let the process see only the GPUs that it uses",
      snippet = "sudo nvidia-smi -pm 1\nexport CUDA_VISIBLE_DEVICES=0", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "A capture that was meant to show the start.",
  references = { "cuda-programming/lazy-loading", "nsys/cli-options", "pytorch/compile" },

  applies = function(f)
    if f.startup.time == nil then return false, "a loop was recorded, and its start is before the window" end
    return f.startup.time > 0, "nothing was loaded or allocated while the GPU waited"
  end,

  detect = function(f, t)
    local lost = share(f.startup.time, f.window.time)
    if not at_least(lost, t.min_share) then return nil end
    local compile = f.startup.compile or 0
    local parts = {
      { most = compile, reason = "compile", goes = "compiles code", why = "First calls compile code." },
      { most = f.startup.code - compile, reason = "load", goes = "loads code", why = "First calls load the code of kernels and libraries." },
      { most = f.startup.allocation, reason = "allocation", goes = "allocates memory", why = "First passes reserve memory." },
      { most = f.startup.upload, reason = "upload", goes = "copies data to the GPU before the first kernel", why = "Weights and inputs have to reach the GPU first." } }
    local longest = top(parts, "most", 1)[1]
    -- The first call of CUDA creates its context, whatever its name says.
    local call_text = ""
    if f.startup.before_call and 2 * (f.startup.before_call_time or 0) > (f.startup.before or 0) then
      call_text = ", most of it in " .. f.startup.before_call .. " (the first calls create the CUDA context)"
    end
    local before_text = ""
    if f.startup.before and at_least(share(f.startup.before, f.startup.time), t.min_before) then
      before_text = " Another " .. in_words(f.startup.before, "time") .. " pass before the first GPU operation" .. call_text .. "."
    end
    return { share = lost, before_text = before_text, most = longest.most, goes = longest.goes, reason = longest.reason, why = longest.why, code = f.startup.code, allocation = f.startup.allocation, upload = f.startup.upload,
             before = f.startup.before }
  end,

  saving = function(f, t)
    if f.run.trains then return nil end
    return { claims = f.startup.lost, part = t.winnable, confidence = 0.7, confidence_from = "the report records these calls",
             basis = "a cache or a process that has started already avoids this part of the start-up" }
  end,

  tests = {
    { name = "nine tenths of a test are start-up",
      edges = { ["startup.time"] = 2.5e8 },
      facts = { window = { time = 1e9, device_time = 1e9 }, run = { trains = false },
                startup = { time = 9e8, code = 8e8, allocation = 1e8, upload = 0, before = 2e8, lost = 9e8 } },
      expect = { share = 0.9, most = 8e8, goes = "loads code", reason = "load", code = 8e8, allocation = 1e8, upload = 0, before = 2e8 },
      saving = { claims = 9e8, part = 0.7 } },
    { name = "a start that compiles",
      facts = { window = { time = 1e9, device_time = 1e9 }, run = { trains = false },
                startup = { time = 9e8, code = 8e8, compile = 7e8, allocation = 1e8, upload = 0, before = 0, lost = 9e8 } },
      expect = { most = 7e8, goes = "compiles code", reason = "compile" } },
    { name = "a first call creates the context",
      facts = { window = { time = 1e9, device_time = 1e9 }, run = { trains = false },
                startup = { time = 9e8, code = 8e8, allocation = 1e8, upload = 0, before = 2.46e10, lost = 9e8,
                            before_call = "cudaDeviceGetStreamPriorityRange", before_call_time = 2.4e10 } },
      expect = { before_text = " Another 24.6 s pass before the first GPU operation, most of it in cudaDeviceGetStreamPriorityRange " ..
                               "(the first calls create the CUDA context)." } },
    { name = "hardly anything comes before",
      edges = { ["startup.before"] = 9e7 },
      facts = { window = { time = 1e9, device_time = 1e9 }, run = { trains = false },
                startup = { time = 9e8, code = 8e8, allocation = 1e8, upload = 0, before = 6.9e4, lost = 9e8 } },
      expect = { before_text = "" } },
    { name = "the start of a training job: said, but nothing is claimed",
      facts = { window = { time = 1e9, device_time = 1e9 }, run = { trains = true },
                startup = { time = 9e8, code = 8e8, allocation = 1e8, upload = 0, before = 2e8, lost = 9e8 } },
      expect = { share = 0.9, code = 8e8, allocation = 1e8, upload = 0, before = 2e8 } },
    { name = "near miss: a long program that loads some code",
      facts = { window = { time = 1e9, device_time = 1e9 }, run = { trains = false },
                startup = { time = 1e8, code = 1e8, allocation = 0, upload = 0, before = 2e8, lost = 1e8 } },
      expect = "silent" },
    { name = "nothing is loaded",
      facts = { window = { time = 1e9, device_time = 1e9 }, run = { trains = false },
                startup = { time = 0, code = 0, allocation = 0, upload = 0, before = 0, lost = 0 } },
      expect = "not_applicable" },
    { name = "a loop was recorded",
      facts = { window = { time = 1e9, device_time = 1e9 }, run = { trains = true } }, expect = "not_applicable" },
  },
}
