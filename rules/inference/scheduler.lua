-- Between two engine steps the launching thread runs code: it picks requests, builds inputs and updates block tables while
-- the GPU has nothing to do.
return {
  id        = "inference/scheduler",
  title     = "Overlap scheduling with GPU work",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "flag",
  priority  = 65,
  explains  = { "host/cpu-bound" },
  knowledge = { "K-E1", "K-N6" },

  needs      = { "run.serves", "window.device_time", "serving.scheduler.lost", "serving.scheduler.remedy", "serving.scheduler.per_step" },
  thresholds = { "min_share" },

  symptom = "Between engine steps, the GPU waits for code on the launching thread: {share:pct} of the time, {count:count} times {per:text}.",
  cause   = "The next step is scheduled only after the last one is done. The thread picks requests, builds inputs and hands out results meanwhile.",
  fixes   = {
    { action = "Turn on the overlapped scheduler",
      snippet = "vllm serve MODEL --async-scheduling\npython -m sglang.launch_server --model-path MODEL   # without --disable-overlap-schedule",
      language = "bash", ["for"] = { "vllm", "sglang" } },
    { action = "Run several engine steps per call of the scheduler" },
    { action = "Move tokenization and detokenization to their own processes" },
  },
  false_positives = "A scheduler that polls for requests looks busy.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    if not f.run.serves then return false, "the run shows no model server" end
    return f.serving.scheduler.lost.time > 0, "no step waits for the scheduler"
  end,

  detect = function(f, t)
    local lost = share(f.serving.scheduler.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    return { share = lost, count = f.serving.scheduler.per_step }
  end,

  saving = function(f)
    return { claims = f.serving.scheduler.lost, remedy = f.serving.scheduler.remedy, confidence = 0.5,
             basis = "scheduling overlaps with the previous step" }
  end,

  tests = {
    { name = "a fifth of the time is scheduling",
      facts = { run = { serves = true }, window = { device_time = 1e9 },
                serving = { scheduler = { lost = 2e8, remedy = true, per_step = 3 } } },
      expect = { share = 0.2, count = 3 }, saving = { claims = 2e8, confidence = 0.5 } },
    { name = "near miss: a percent",
      facts = { run = { serves = true }, window = { device_time = 1e9 },
                serving = { scheduler = { lost = 1e7, remedy = true, per_step = 3 } } },
      expect = "silent" },
    { name = "an overlapped scheduler",
      facts = { run = { serves = true }, window = { device_time = 1e9 },
                serving = { scheduler = { lost = 0, remedy = true, per_step = 0 } } },
      expect = "not_applicable" },
    { name = "no server", facts = { run = { serves = true }, window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
