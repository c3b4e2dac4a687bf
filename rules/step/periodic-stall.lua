-- Every N-th step is slow: a checkpoint, logging, evaluation, garbage collection. The regular distance tells it from
-- chance, and what fills the excess names it. Only idle time counts: evaluation that keeps the GPU busy is work.
return {
  id        = "step/periodic-stall",
  title     = "Move the work of every N-th step off the main thread",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 79,
  explains  = { "step/outlier", "step/jitter", "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-C6" },

  needs      = { "window.device_time", "steps.count", "steps.median" },
  optional   = { "steps.stall.every", "steps.stall.excess", "steps.stall.what", "steps.stall.lost", "steps.stall.remedy" },
  thresholds = { "min_share", "min_times" },

  symptom = "Every {every:count} steps, one step takes longer and the GPU is idle in it: {share:pct} of the time in all{what_text:text}.",
  cause   = "Work that is done now and then (saving, logging, evaluation, garbage collection) stops the loop while it lasts.",
  fixes   = {
    { action  = "Save checkpoints in the background",
      snippet = [[future = torch.distributed.checkpoint.async_save(state, checkpoint_id=path)   # waits for the copy only
# or: copy to pinned host memory, and let a thread write the file]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Log without waiting: keep values on the GPU and fetch them one interval later",
      snippet = [[history.append(loss.detach())                     # each step, no wait
if step % 100 == 0:
    log(torch.stack(history).mean().item()); history.clear()]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "If it is Python's garbage collector, run it rarely and at times that you choose",
      snippet = [[gc.collect(); gc.freeze(); gc.disable()            # after warm-up; then gc.collect() every 1000 steps]],
      language = "python", ["for"] = { "python" } },
    { action = "Do it less often" },
  },
  false_positives = "In a short capture, two slow steps may be equally far apart by chance.",
  references = { "pytorch/tuning-guide", "pytorch/profiler" },

  applies = function(f)
    return f.steps.count > 0 and f.steps.stall.every ~= nil and f.steps.stall.lost ~= nil,
      "slow steps do not come at a regular distance"
  end,

  detect = function(f, t)
    local lost = share(f.steps.stall.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(share(f.steps.count, f.steps.stall.every), t.min_times) then return nil end
    local what = f.steps.stall.what
    -- Batches that come in bursts, once a round of the workers: the rules of input/ speak of it.
    if what == "data loading" then return nil end
    return { share = lost, every = f.steps.stall.every, excess = f.steps.stall.excess, median = f.steps.median,
             steps = f.steps.count,
             what_text = what and what ~= "" and "; the extra time goes to " .. what or "" }
  end,

  saving = { claims = "steps.stall.lost", remedy = "steps.stall.remedy", confidence = 0.75,
             basis = "the host work of these steps overlaps with the loop" },

  tests = {
    { name = "a checkpoint every five steps",
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 5, excess = 1.6e9, what = "checkpoint", lost = 1.5e9,
                                                              remedy = true } } },
      expect = { share = 0.375, every = 5, excess = 1.6e9, median = 1e8, steps = 20,
                 what_text = "; the extra time goes to checkpoint" },
      saving = { claims = 1.5e9, confidence = 0.75 } },
    { name = "near miss: evaluation keeps the GPU busy",
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 5, excess = 1.6e9, what = "evaluation", lost = 1e7,
                                                              remedy = true } } },
      expect = "silent" },
    { name = "near miss: the excess is a wait for data, which input/ judges",
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 4, excess = 1.6e9, what = "data loading", lost = 1.5e9,
                                                              remedy = true } } },
      expect = "silent" },
    { name = "near miss: it came once",
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 15, excess = 4e8, what = "checkpoint", lost = 4e8,
                                                              remedy = true } } },
      expect = "silent" },
    { name = "slow steps come by chance", facts = { window = { device_time = 4e9 }, steps = { count = 20, median = 1e8 } },
      expect = "not_applicable" },
    { name = "no steps were found", facts = { window = { device_time = 4e9 } }, expect = "cannot_tell" },
  },
}
