-- Between two engine steps the launching thread runs code: it picks requests, builds inputs and updates block tables while
-- the GPU has nothing to do. Without ranges of the engine, the long pauses of a known engine's launching thread are that code.
local engines = { vLLM = true, SGLang = true, ["TensorRT-LLM"] = true }

local function waits(f)
  if f.serving.scheduler.lost then return f.serving.scheduler end
  return f.run.decode and engines[f.run.framework or ""] and f.host.compute or nil
end

return {
  id        = "inference/scheduler",
  title     = "Overlap scheduling with GPU work",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "flag",
  own_steps = true,
  priority  = 65,
  explains  = { "host/cpu-bound", "rank/host-imbalance" },
  knowledge = { "K-E1", "K-N6" },

  needs      = { "run.serves", "window.device_time", "host.compute.lost", "host.compute.remedy" },
  optional   = { "serving.scheduler.lost", "serving.scheduler.remedy", "serving.scheduler.per_step", "run.decode", "run.units", "run.framework",
                 "steps.outliers.lost", "steps.stall.lost", "steps.stall.may_wait", "host.compute.ranges" },
  thresholds = { "min_share", "max_outliers", "few_pauses" },

  symptom = "Between engine steps, the GPU waits for code on the launching thread for {share:pct} of the time.",
  cause   = "The next step is scheduled only after the last one is done. The thread picks requests, builds inputs and hands out results meanwhile.",
  fixes   = {
    { action = "Turn on the overlapped scheduler",
      snippet = "vllm serve MODEL --async-scheduling", language = "bash", ["for"] = { "vllm" } },
    { action = "Check that nothing turns the overlapped scheduler off, which is on by default",
      snippet = "python -m sglang.launch_server --model-path MODEL   # remove --disable-overlap-schedule", language = "bash", ["for"] = { "sglang" } },
    { action = "Run several engine steps per call of the scheduler" },
    { action = "Move tokenization and detokenization to their own processes" },
  },
  false_positives = "A scheduler that polls for requests looks busy.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    if not f.run.serves then return false, "the run shows no model server" end
    local waiting = waits(f)
    -- Pauses of some steps alone, where nothing that was recorded tells code from a wait for the next request.
    if waiting and not f.serving.scheduler.lost and f.steps.stall.may_wait and 2 * f.steps.stall.lost.time > waiting.lost.time then
      return false, "most of the time may be waits for requests, which only a capture of OS calls can tell"
    end
    return waiting ~= nil and waiting.lost.time > 0, "no step waits for the scheduler"
  end,

  detect = function(f, t)
    local lost = share(waits(f).lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    -- A program of one's own names what it does between two steps, such as reading pictures: host/cpu-bound says so.
    local named = top(f.host.compute.ranges or {}, "time", 1)[1]
    if named and not engines[f.run.framework or ""] and not contains(named.name, "sched") and 2 * named.time > waits(f).lost.time then
      return nil
    end
    -- A few long pauses, as of a garbage collector, are not what each step needs.
    if at_least(share(f.steps.outliers.lost and f.steps.outliers.lost.time or 0, waits(f).lost.time), t.max_outliers) then return nil end
    local count = f.serving.scheduler.per_step or share(waits(f).lost.count, f.run.units or 1)
    if not f.serving.scheduler.lost and not at_most(count, t.few_pauses) then return nil end
    return { share = lost, count = count }
  end,

  saving = function(f)
    return { claims = waits(f).lost, remedy = waits(f).remedy, confidence = 0.5,
             basis = "scheduling overlaps with the previous step" }
  end,

  tests = {
    { name = "a fifth of the time is scheduling",
      edges = { ["serving.scheduler.lost"] = 3e7 },
      facts = { run = { serves = true }, window = { device_time = 1e9 }, host = { compute = { lost = 3e8, remedy = true } },
                serving = { scheduler = { lost = 2e8, remedy = true, per_step = 3 } } },
      expect = { share = 0.2, count = 3 }, saving = { claims = 2e8, confidence = 0.5 } },
    { name = "no range names the engine's steps: code between the tokens",
      facts = { run = { serves = true, decode = true, units = 50, framework = "vLLM" }, window = { device_time = 1e9 },
                host = { compute = { lost = { time = 3e8, count = 50 }, remedy = true } } },
      expect = { share = 0.3, count = 1 }, saving = { claims = 3e8 } },
    { name = "the GPU waits between the uploads of the inputs as well",
      edges = { ["run.units"] = 50 },
      facts = { run = { serves = true, decode = true, units = 50, framework = "vLLM" }, window = { device_time = 1e9 },
                host = { compute = { lost = { time = 3e8, count = 400 }, remedy = true } } },
      expect = { share = 0.3, count = 8 } },
    { name = "near miss: the GPU waits between the kernels of each step",
      facts = { run = { serves = true, decode = true, units = 50, framework = "vLLM" }, window = { device_time = 1e9 },
                host = { compute = { lost = { time = 3e8, count = 2350 }, remedy = true } } },
      expect = "silent" },
    { name = "code between the tokens, and a few long pauses",
      facts = { run = { serves = true, decode = true, units = 50, framework = "vLLM" }, window = { device_time = 1e9 },
                steps = { outliers = { lost = 1.2e8 } }, host = { compute = { lost = { time = 3e8, count = 50 }, remedy = true } } },
      expect = { share = 0.3 }, saving = { claims = 3e8 } },
    { name = "near miss: a few pauses make most of it, as of a garbage collector",
      facts = { run = { serves = true, decode = true, units = 50, framework = "vLLM" }, window = { device_time = 1e9 },
                steps = { outliers = { lost = 1.8e8 } }, host = { compute = { lost = { time = 3e8, count = 50 }, remedy = true } } },
      expect = "silent" },
    { name = "without OS calls, one token in twelve may wait for a request",
      facts = { run = { serves = true, decode = true, units = 50, framework = "vLLM" }, window = { device_time = 1e9 },
                steps = { stall = { lost = 2.8e8, may_wait = true } },
                host = { compute = { lost = { time = 3e8, count = 50 }, remedy = true } } },
      expect = "not_applicable" },
    { name = "a range of a program's own scheduler",
      facts = { run = { serves = true }, window = { device_time = 1e9 },
                host = { compute = { lost = 3e8, remedy = true, ranges = { { name = "schedule", time = 1.5e8 } } } },
                serving = { scheduler = { lost = 2e8, remedy = true, per_step = 3 } } },
      expect = { share = 0.2 } },
    { name = "near miss: a range says what the thread does between two steps",
      facts = { run = { serves = true, framework = "TensorRT" }, window = { device_time = 1e9 },
                host = { compute = { lost = 3e8, remedy = true, ranges = { { name = "preprocess", time = 1.5e8 } } } },
                serving = { scheduler = { lost = 2e8, remedy = true, per_step = 3 } } },
      expect = "silent" },
    { name = "near miss: a percent",
      facts = { run = { serves = true }, window = { device_time = 1e9 }, host = { compute = { lost = 3e8, remedy = true } },
                serving = { scheduler = { lost = 1e7, remedy = true, per_step = 3 } } },
      expect = "silent" },
    { name = "an overlapped scheduler",
      facts = { run = { serves = true }, window = { device_time = 1e9 }, host = { compute = { lost = 0, remedy = true } },
                serving = { scheduler = { lost = 0, remedy = true, per_step = 0 } } },
      expect = "not_applicable" },
    { name = "near miss: a server that generates no tokens, without ranges",
      facts = { run = { serves = true }, window = { device_time = 1e9 }, host = { compute = { lost = 3e8, remedy = true } } },
      expect = "not_applicable" },
    { name = "near miss: a program of one's own, whose code nobody knows",
      facts = { run = { serves = true, decode = true, units = 50 }, window = { device_time = 1e9 },
                host = { compute = { lost = { time = 3e8, count = 50 }, remedy = true } } },
      expect = "not_applicable" },
    { name = "no CUDA calls",
      facts = { run = { serves = true, decode = true, framework = "vLLM" }, window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
