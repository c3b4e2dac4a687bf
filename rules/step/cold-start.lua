-- The first steps take far longer than the rest: code is compiled and loaded, algorithms are tried out, memory is
-- allocated for the first time. That time lies before the analyzed window and cannot be won there, so this rule claims
-- nothing; it matters to short jobs, to servers that start often, and to whoever times the first epoch.
return {
  id        = "step/cold-start",
  title     = "Shorten the warm-up, or exclude it from what you time",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-C7", "K-A2", "K-O5" },

  needs      = { "steps.count", "steps.median", "steps.warmup.count", "steps.warmup.excess" },
  optional   = { "steps.warmup.cause" },
  thresholds = { "min_excess", "min_ratio" },

  symptom = "The start of the loop ({count:count} steps) takes {excess:time} longer than later steps take. That is the time of {ratio:num} steps{cause_text:text}.",
  cause   = "First calls load and compile code, choose algorithms and allocate memory. The run pays for this once, and it is not part of the analyzed window.",
  fixes   = {
    { action  = "Warm up before you time or profile",
      snippet = [[for _ in range(3): step(sample)
torch.cuda.synchronize()
prof = torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=3, active=5))]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Keep compiled code from run to run, on a disk that all nodes see",
      snippet = [[export TORCHINDUCTOR_CACHE_DIR=$SCRATCH/inductor TRITON_CACHE_DIR=$SCRATCH/triton
export CUDA_CACHE_PATH=$SCRATCH/cuda-cache CUDA_CACHE_MAXSIZE=4294967296]],
      language = "bash" },
    { action = "Let the first step use the largest shapes, so that the allocator gets all its blocks at once; compile for few shapes" },
  },
  false_positives = "In a run of hours it does not matter.",
  references = { "pytorch/profiler", "cuda-programming/lazy-loading", "pytorch/compile" },

  applies = function(f) return f.steps.warmup.count > 0, "the first steps are like the rest" end,

  detect = function(f, t)
    if not at_least(f.steps.warmup.excess, t.min_excess) then return nil end
    local ratio = share(f.steps.warmup.excess, f.steps.median)
    if not at_least(ratio, t.min_ratio) then return nil end
    local cause = f.steps.warmup.cause
    return { excess = f.steps.warmup.excess, count = f.steps.warmup.count, ratio = ratio,
             cause_text = cause and ", mostly for " .. cause or "" }
  end,

  tests = {
    { name = "the first step costs twenty",
      edges = { ["steps.median"] = 4e8 },
      facts = { steps = { count = 50, median = 1e8, warmup = { count = 1, excess = 2e9, cause = "loading code" } } },
      expect = { excess = 2e9, count = 1, ratio = 20, cause_text = ", mostly for loading code" } },
    { name = "near miss: a first step of twice the length",
      facts = { steps = { count = 50, median = 1e9, warmup = { count = 1, excess = 1e9 } } }, expect = "silent" },
    { name = "near miss: many short steps' worth, and still next to nothing",
      edges = { ["steps.warmup.excess"] = 1e8 },
      facts = { steps = { count = 5000, median = 1e6, warmup = { count = 2, excess = 4e7 } } }, expect = "silent" },
    { name = "no warm-up in the capture", facts = { steps = { count = 50, median = 1e8, warmup = { count = 0, excess = 0 } } },
      expect = "not_applicable" },
    { name = "no steps were found", facts = {}, expect = "cannot_tell" },
  },
}
