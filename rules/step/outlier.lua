-- One or a few steps take far longer than the median step. A symptom: the table says what was different in them, and
-- other rules name the cause where they can (a slow batch, a compilation, a checkpoint).
return {
  id        = "step/outlier",
  title     = "Look at the steps that take far longer than the rest",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "code",
  topic     = "single-steps",
  priority  = 40,
  explains  = { "step/jitter" },
  knowledge = { "K-A2" },

  needs      = { "window.time", "window.device_time", "steps.count", "steps.median", "steps.outliers.count", "steps.outliers.excess",
                 "steps.outliers.rows", "steps.outliers.lost", "steps.outliers.remedy" },
  optional   = { "run.kind", "run.request_waits", "run.uneven_pauses", "serving.no_request.lost", "steps.outliers.gpu_share", "steps.outliers.what" },
  thresholds = { "min_share", "min_ratio", "min_ratio_idle", "evaluation_share", "as_people", "as_requests" },

  symptom = "{count:count} of {steps:count} steps took longer than the rest: the longest took {slowest:time}, the median step {median:time}. The excess is {share:pct} of the time, most of it {what:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "evaluation", action = "If these steps evaluate the model, do so less often, load that data in worker processes, and keep results on the GPU until the end",
      snippet = [[with torch.inference_mode():
    for x, y in eval_loader:
        correct += (model(x).argmax(-1) == y).sum()     # a tensor: no .item() here]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Open the capture in the profiler's timeline at the slowest step, and compare it with its neighbors" },
    { reason = "host code", action = "Where Python's garbage collector is the cause, collect at times that you choose",
      snippet = [[gc.collect(); gc.freeze(); gc.disable()      # after warm-up
if step % 500 == 0: gc.collect()]],
      language = "python", ["for"] = { "python" } },
    { reason = "compiling or loading code", action = "Run such shapes once before timing; torch.compile(dynamic=True) compiles less often", ["for"] = { "pytorch" } },
    { reason = "waiting for other ranks, or slow communication", action = "Analyze the reports of all ranks together: the rank that the others wait for shows what takes so long" },
    { reason = "more work on the GPU", action = "If the batch was larger, bucket by length and pad to a few sizes", ["for"] = { "python" } },
  },
  false_positives = "Evaluation or a checkpoint in the middle of training, which is meant to take long.",
  references = { "pytorch/tuning-guide", "pytorch/profiler" },

  applies = function(f) return f.steps.outliers.count > 0, "no step stands out" end,

  detect = function(f, t)
    local cost = share(f.steps.outliers.excess, f.window.time)
    if not at_least(cost, t.min_share) then return nil end
    local rows = top(f.steps.outliers.rows, "time", 5)
    if #rows == 0 then return nil end
    -- More work may make a step longer; a pause of the GPU is none of the step's own.
    local idles = at_least(share(f.steps.outliers.lost.time, f.window.device_time), t.min_share)
    if not at_least(share(rows[1].time, f.steps.median), idles and t.min_ratio_idle or t.min_ratio) then return nil end
    local what = f.steps.outliers.what or rows[1].what
    local busy = f.steps.outliers.gpu_share or 0
    -- Requests differ in what they ask for: the first token of a prompt takes a pass over all of it.
    if f.run.kind == "inference" and what == "more work on the GPU" then return nil end
    -- A training step that does more on the GPU, and then waits for code, hardly just waits.
    local evaluates = f.run.kind == "training" and what == "host code" and at_least(busy, t.evaluation_share)
    -- A server's thread that waits in the OS between two steps waits for a request.
    local idle = f.serving.no_request.lost
    if what == "waiting in the OS" and idle and idle.time > f.steps.outliers.lost.time then return nil end
    local cause = what
    if what == "host code" and f.run.request_waits == "as-code" then
      what = what .. " or waits for requests, which were not recorded"
    end
    local unseen = what == "waiting in the OS" and f.run.request_waits == "as-wait"
    if unseen then what = what .. ", perhaps for requests" end
    if what == "checkpoint" then what = "saving a checkpoint" end
    return { share = cost, count = f.steps.outliers.count, steps = f.steps.count, slowest = rows[1].time, median = f.steps.median,
             what = what, reason = unseen and "unseen" or evaluates and "evaluation" or cause, rows = rows,
             why = evaluates and "The GPU also has more work in these steps: they probably evaluate the model, or work on more batches."
               or "Something happened that is not part of a normal step." }
  end,

  -- What no cause has claimed of the idle time in them. More work on the GPU is for others to judge.
  saving = function(f, t, e)
    if e.reason == "unseen" then return nil end
    if not at_least(share(f.steps.outliers.lost.time, f.window.device_time), t.min_share) then return nil end
    local may_wait = e.reason == "host code" and f.run.request_waits == "as-code"
    -- As long as people take: whoever types the next command may be what the program waits for.
    if may_wait and at_least(f.run.uneven_pauses or 0, t.as_requests) then return nil end
    if may_wait and at_least(e.slowest - e.median, t.as_people) then return nil end
    return { claims = f.steps.outliers.lost, remedy = f.steps.outliers.remedy, confidence = may_wait and 0.3 or 0.4,
             basis = "these steps take as long as the median step" }
  end,

  tests = {
    { name = "one step of twenty takes five times as long",
      edges = { ["steps.median"] = 3.33e8, ["steps.outliers.excess"] = 4.8e7 },
      facts = { window = { time = 2.4e9, device_time = 2.4e9 },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 1e6, remedy = true, count = 1, excess = 4e8, rows = { { index = 10, time = 5e8, median = 1e8,
                                                                           what = "idle: host_compute" } } } } },
      expect = { share = 1 / 6, count = 1, steps = 20, slowest = 5e8, median = 1e8, what = "idle: host_compute",
                 rows = { { index = 10 } } } },
    { name = "the GPU idles in it",
      facts = { window = { time = 2.4e9, device_time = 2.4e9 },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 4e8, remedy = true, count = 1, excess = 4e8, rows = { { index = 10, time = 5e8, median = 1e8,
                                                                           what = "host code" } } } } },
      expect = { count = 1 },
      saving = { claims = 4e8, confidence = 0.4 } },
    { name = "nothing tells a wait for the next request from code",
      facts = { window = { time = 2.4e9, device_time = 2.4e9 }, run = { request_waits = "as-code" },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 4e8, remedy = true, count = 1, excess = 4e8, rows = { { index = 10, time = 5e8, median = 1e8,
                                                                           what = "host code" } } } } },
      expect = { count = 1, what = "host code or waits for requests, which were not recorded", reason = "host code" },
      saving = { claims = 4e8, confidence = 0.3 } },
    { name = "pauses that are as uneven as arrivals of requests",
      edges = { ["run.uneven_pauses"] = 2.5 },
      facts = { window = { time = 2.4e9, device_time = 2.4e9 }, run = { request_waits = "as-code", uneven_pauses = 4.8 },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 4e8, remedy = true, count = 1, excess = 4e8, rows = { { index = 10, time = 5e8, median = 1e8,
                                                                           what = "host code" } } } } },
      expect = { count = 1, what = "host code or waits for requests, which were not recorded" },
      saving = { claims = 0 } },
    { name = "nothing tells the next cell of a notebook from code",
      facts = { window = { time = 2.4e9, device_time = 2.4e9 }, run = { request_waits = "as-code" },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 6e8, remedy = true, count = 1, excess = 6e8, rows = { { index = 10, time = 7e8, median = 1e8,
                                                                           what = "host code" } } } } },
      expect = { count = 1, what = "host code or waits for requests, which were not recorded" },
      saving = { claims = 0 } },
    { name = "a training step with more work on the GPU and code between it: an evaluation",
      edges = { ["steps.outliers.gpu_share"] = 0.1 },
      facts = { window = { time = 2.4e9, device_time = 2.4e9 }, run = { kind = "training" },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 3e8, remedy = true, count = 1, excess = 4e8, gpu_share = 0.25,
                                       rows = { { index = 10, time = 5e8, median = 1e8, what = "host code" } } } } },
      expect = { reason = "evaluation", why = "The GPU also has more work in these steps: they probably evaluate the model, or work on more batches." },
      saving = { claims = 3e8, confidence = 0.4 } },
    { name = "the slowest step idles, and most of the excess of all waits for other ranks",
      facts = { window = { time = 2.4e9, device_time = 2.4e9 }, run = { kind = "training" },
                steps = { count = 48, median = 4e7,
                          outliers = { lost = 1e8, remedy = true, count = 4, excess = 3.6e8, gpu_share = 0,
                                       what = "waiting for other ranks, or slow communication",
                                       rows = { { index = 10, time = 1.7e8, median = 4e7, what = "host code" } } } } },
      expect = { what = "waiting for other ranks, or slow communication", reason = "waiting for other ranks, or slow communication" },
      saving = { claims = 1e8 } },
    { name = "near miss: the prompt of a request",
      facts = { window = { time = 2.4e9, device_time = 2.4e9 }, run = { kind = "inference" },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 1e8, remedy = true, count = 1, excess = 4e8, gpu_share = 0.75,
                                       rows = { { index = 10, time = 5e8, median = 1e8, what = "more work on the GPU" } } } } },
      expect = "silent" },
    { name = "near miss: a server waits for a request",
      facts = { window = { time = 2.4e9, device_time = 2.4e9 }, serving = { no_request = { lost = 9e8 } },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 4e8, remedy = true, count = 1, excess = 4e8, rows = { { index = 10, time = 5e8, median = 1e8,
                                                                           what = "waiting in the OS" } } } } },
      expect = "silent" },
    { name = "it waits in the OS while nobody is seen at work: perhaps for a request, which is no time to win",
      facts = { window = { time = 2.4e9, device_time = 2.4e9 }, run = { request_waits = "as-wait" },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 4e8, remedy = true, count = 1, excess = 4e8, rows = { { index = 10, time = 5e8, median = 1e8,
                                                                           what = "waiting in the OS" } } } } },
      expect = { what = "waiting in the OS, perhaps for requests", reason = "unseen" } },
    { name = "its copies lie in a checkpoint",
      facts = { window = { time = 2.4e9, device_time = 2.4e9 },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 4e8, remedy = true, count = 1, excess = 4e8, rows = { { index = 10, time = 5e8, median = 1e8,
                                                                           what = "checkpoint" } } } } },
      expect = { what = "saving a checkpoint", reason = "checkpoint" } },
    { name = "a step that is a third longer, in which the GPU idles",
      edges = { ["steps.median"] = 1.08e8, ["steps.outliers.lost"] = 2.68e7 },
      facts = { window = { time = 1.34e9, device_time = 1.34e9 },
                steps = { count = 8, median = 1e8,
                          outliers = { lost = 4.8e7, remedy = true, count = 1, excess = 4.9e7, rows = { { index = 6, time = 1.3e8, median = 1e8,
                                                                             what = "file access" } } } } },
      expect = { count = 1, slowest = 1.3e8 }, saving = { claims = 4.8e7, confidence = 0.4 } },
    { name = "near miss: a step that is a little slower",
      facts = { window = { time = 2e9, device_time = 2e9 },
                steps = { count = 20, median = 1e8,
                          outliers = { lost = 1e6, remedy = true, count = 3, excess = 4.5e7, rows = { { index = 3, time = 1.15e8, median = 1e8,
                                                                             what = "compute" } } } } },
      expect = "silent" },
    { name = "near miss: one outlier in a long run",
      facts = { window = { time = 1e12, device_time = 1e12 },
                steps = { count = 10000, median = 1e8,
                          outliers = { lost = 1e6, remedy = true, count = 1, excess = 4e8, rows = { { index = 3, time = 5e8, median = 1e8,
                                                                           what = "compute" } } } } },
      expect = "silent" },
    { name = "steps are alike",
      facts = { window = { time = 2e9, device_time = 2e9 }, steps = { count = 20, median = 1e8, outliers = { lost = 1e6, remedy = true, count = 0, excess = 0, rows = {} } } },
      expect = "not_applicable" },
    { name = "no steps were found", facts = { window = { time = 2e9, device_time = 2e9 } }, expect = "cannot_tell" },
  },
}
