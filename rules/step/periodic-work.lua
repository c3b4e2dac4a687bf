-- Every N-th step has the GPU do far more than the others: an evaluation, sampling, a second update. The GPU is busy, so
-- nothing is lost that a fix could win. But it is time that no single step shows, and a person can choose to spend less.
return {
  id        = "step/periodic-work",
  title     = "Check that the extra work of some steps is worth its time",
  status    = "stable",
  since     = "0.2",
  kind      = "info",
  effort    = "design",
  priority  = 60,
  knowledge = { "K-A2" },

  needs      = { "window.time", "steps.count", "steps.median" },
  optional   = { "run.kind", "steps.stall.every", "steps.stall.excess", "steps.stall.gpu_share", "steps.stall.work", "steps.stall.phase" },
  thresholds = { "min_share", "min_times", "min_work" },

  symptom = "One step in {every:count} runs {work:num} times as many kernels as the others{phase_text:text}. This extra work takes {share:pct} of the time, and the GPU is busy meanwhile.",
  cause   = "Some work is done now and then, such as evaluation. The average step contains its share of it.",
  fixes   = {
    { action  = "If it is evaluation, evaluate less often or on part of the data, without gradients and with a larger batch",
      snippet = [[with torch.inference_mode(), torch.autocast("cuda", dtype=torch.bfloat16):
    for x, y in eval_loader:
        correct += (model(x).argmax(-1) == y).sum()     # a tensor: no .item() here]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Evaluate a saved checkpoint in another job, on other GPUs", ["for"] = { "training" } },
    { action = "Do this work less often" },
  },
  false_positives = "Work that has to be done so often, such as the update behind several steps that add up gradients.",
  references = { "pytorch/tuning-guide" },

  applies = function(f)
    if f.run.kind == "inference" then return false, "prompts and requests decide what a step of inference computes" end
    return f.steps.count > 0 and f.steps.stall.every ~= nil, "slow steps do not come at a regular distance"
  end,

  detect = function(f, t)
    local extra = (f.steps.stall.excess or 0) * (f.steps.stall.gpu_share or 0)
    local cost = share(extra, f.window.time)
    if not at_least(cost, t.min_share) then return nil end
    if not at_least(share(f.steps.count, f.steps.stall.every), t.min_times) then return nil end
    if not at_least(f.steps.stall.work or 0, t.min_work) then return nil end
    local phase = f.steps.stall.phase
    return { share = cost, every = f.steps.stall.every, work = f.steps.stall.work, median = f.steps.median, steps = f.steps.count,
             phase_text = phase and " (" .. phase .. ")" or "" }
  end,

  tests = {
    { name = "an evaluation every 50 steps",
      edges = { ["window.time"] = 2e10, ["steps.count"] = 100, ["steps.stall.work"] = 1.2 },
      facts = { window = { time = 5.2e9 },
                steps = { count = 160, median = 2.7e7,
                          stall = { every = 50, excess = 1e9, gpu_share = 1, work = 11.4, phase = "evaluation" } } },
      expect = { share = 1 / 5.2, every = 50, work = 11.4, median = 2.7e7, steps = 160, phase_text = " (evaluation)" } },
    { name = "no range names the work",
      facts = { window = { time = 5.2e9 },
                steps = { count = 160, median = 2.7e7, stall = { every = 50, excess = 1e9, gpu_share = 1, work = 3 } } },
      expect = { every = 50, phase_text = "" } },
    { name = "near miss: the GPU idles in most of the extra time",
      edges = { ["steps.stall.gpu_share"] = 0.26 },
      facts = { window = { time = 5.2e9 },
                steps = { count = 160, median = 2.7e7, stall = { every = 50, excess = 1e9, gpu_share = 0.1, work = 1.5 } } },
      expect = "silent" },
    { name = "near miss: the same kernels take longer",
      facts = { window = { time = 5.2e9 },
                steps = { count = 160, median = 2.7e7, stall = { every = 50, excess = 1e9, gpu_share = 1, work = 1 } } },
      expect = "silent" },
    { name = "near miss: it came once",
      facts = { window = { time = 5.2e9 },
                steps = { count = 60, median = 2.7e7, stall = { every = 50, excess = 1e9, gpu_share = 1, work = 11.4 } } },
      expect = "silent" },
    { name = "a server reads prompts now and then",
      facts = { window = { time = 5.2e9 }, run = { kind = "inference" },
                steps = { count = 160, median = 2.7e7, stall = { every = 50, excess = 1e9, gpu_share = 1, work = 11.4 } } },
      expect = "not_applicable" },
    { name = "steps are alike", facts = { window = { time = 5.2e9 }, steps = { count = 160, median = 2.7e7 } },
      expect = "not_applicable" },
    { name = "no steps were found", facts = { window = { time = 5.2e9 } }, expect = "cannot_tell" },
  },
}
