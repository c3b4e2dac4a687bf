-- Most batches arrive in time; a few take many times as long as the median one and stall the loop. The mean tells
-- nothing here and more workers help little: what differs is the data. Two signals: slow loads are few, and they
-- make up most of the idle time that loading causes. With workers that are ahead, only the slow loads show at all: then
-- few steps wait for data, and those wait long. Workers that cannot keep up hold the loop at least once per round of
-- as many steps as there are workers; slow samples do so less often, even where they keep every worker busy.

-- Whether slow steps are whole rounds of the workers apart. They come once a round from the moment on at which the batches that
-- were ready at the start are used up: before that nothing waits.
local function slow_once_a_round(slow, workers)
  if slow == nil or #slow <= 1 then return false end
  for _, row in ipairs(slow) do
    if (row.index - slow[1].index) % workers ~= 0 then return false end
  end
  return true
end

return {
  id        = "input/slow-batches",
  title     = "Find out why a few batches load far more slowly than the rest",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 77,
  explains  = { "input/starved", "input/no-workers", "input/too-few-workers", "rank/input-imbalance", "step/jitter", "step/outlier" },
  knowledge = { "K-I2" },

  needs      = { "window.device_time", "input.lost", "input.remedy", "input.load.count", "input.load.median",
                 "input.load.max", "input.load.slow_count", "input.load.slow_lost", "input.load.slow_remedy" },
  optional   = { "input.workers", "input.workers_busy", "input.steps_affected_later", "input.batch.count", "input.batch.slow_count", "input.batch.slow_part", "input.batch.usual", "steps.count", "steps.median", "steps.stall.every", "steps.stall.what",
                     "steps.outliers.rows" },
  thresholds = { "min_share", "min_count", "max_slow_share", "min_part", "max_busy", "max_per_round", "min_of_step",
                     "always_busy", "min_rounds", "same_length", "max_uneven_share" },

  symptom = "A few loads delay the loop far longer than the rest, by up to {max:time}: {count:count} of {loads:count}. Around these loads, the GPU is idle for {share:pct} of the time.",
  cause   = "A few samples are larger or harder to decode than the rest, or the storage stalls now and then.",
  fixes   = {
    { action  = "Time each sample twice, and convert those that are slow both times",
      snippet = [[from timeit import timeit
load = lambda i: timeit(lambda: dataset[i], number=1)
cost = sorted((min(load(i), load(i)), i) for i in range(len(dataset)))
print(cost[-20:])             # samples that were slow once waited for storage]],
      language = "python", ["for"] = { "python" } },
    { action  = "Keep more batches in reserve, so that a slow one is ready in time; if order does not matter, do not wait for it",
      snippet = [[loader = DataLoader(dataset, num_workers=8, prefetch_factor=8, persistent_workers=True,
                    in_order=False)   # in_order: PyTorch 2.6 or newer]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "If storage is slow now and then, copy the data to a local disk before the run" },
    { action = "Spread the expensive samples evenly over batches and ranks, or bucket them by size" },
  },
  false_positives = "A shuffle buffer that fills up, or the start of an epoch.",
  references = { "pytorch/dataloader-workers", "pytorch/tuning-guide" },

  applies = function(f) return f.input.load.count > 0, "the launching thread was seen neither to load data nor to wait for it" end,

  detect = function(f, t)
    local workers, affected = f.input.workers or 0, f.input.steps_affected_later
    local seldom = workers >= 1 and affected and f.steps.count and at_most(affected * workers, t.max_per_round)
    local all, slow = f.input.lost.time, f.input.load.slow_lost.time
    local function found(lost, count, of, rare)
      return { share = share(lost, f.window.device_time), count = count, loads = of, median = f.input.load.median,
               max = f.input.load.max, part = share(lost, all), rare = rare }
    end
    -- Workers were at slow batches while the GPU waited. With batches like the others, they would have been done in less
    -- time than the rest of the run takes: busy or not, there are enough of them.
    local batch = f.input.batch
    if batch.slow_count and at_least(batch.slow_count, t.min_count)
       and at_least(share(all, f.window.device_time), t.min_share) and at_least(batch.slow_part, t.min_part)
       and at_most(batch.usual, f.window.device_time - all) then
      return found(all, batch.slow_count, batch.count, "yes")
    end
    -- Workers that never rest, and one wait per round: the pool is too small.
    if f.input.workers_busy and at_least(f.input.workers_busy, t.always_busy) and workers > 1 and slow_once_a_round(f.steps.outliers.rows, workers) then return nil end
    if f.input.workers_busy and not seldom and not at_most(f.input.workers_busy, t.max_busy) then return nil end
    -- Some loads stand out from the others that the GPU waits for.
    if at_least(share(slow, f.window.device_time), t.min_share) and at_least(share(slow, all), t.min_part)
       and at_least(f.input.load.slow_count, t.min_count)
       and at_most(share(f.input.load.slow_count, math.min(f.input.load.count, f.steps.count or math.huge)), t.max_slow_share) then
      return found(slow, f.input.load.slow_count, f.input.load.count, "no")
    end
    -- Waits at even distances are rounds of workers that cannot keep up; whether they are busy was not seen. Two waits are
    -- always evenly apart, but seldom of one length.
    local every = f.steps.stall.what == "data loading" and f.steps.stall.every
    if f.input.workers_busy == nil and every
       and (at_least(f.steps.count / every, t.min_rounds) or at_most(share(f.input.load.max, f.input.load.median), t.same_length)) then
      return nil
    end
    -- The GPU waits for few loads at all, and long. Behind them the loop may wait for the next ones, too, but not the GPU.
    local few = affected and (seldom or at_most(affected, t.max_slow_share)
                or f.steps.count and f.input.workers_busy == nil and at_most(share(f.input.load.count, f.steps.count), t.max_slow_share))
    -- Workers that cannot keep up hold the loop at even distances: waits at uneven ones are of single batches, also where there
    -- are more of them.
    if not few and affected and f.steps.count and f.input.workers_busy == nil and not every and at_least(f.input.load.count, t.min_rounds) then
      few = at_most(share(f.input.load.count, f.steps.count), t.max_uneven_share)
    end
    if f.steps.count and f.steps.median and few
       and at_least(f.input.load.count, t.min_count) and at_least(share(all, f.window.device_time), t.min_share)
       and at_least(share(f.input.load.median, f.steps.median), t.min_of_step) then
      return found(all, f.input.load.count, f.steps.count, "yes")
    end
    return nil
  end,

  saving = function(f, t, e)
    if e.rare == "yes" then
      return { claims = f.input.lost, remedy = f.input.remedy,
               confidence = 0.65, basis = "the slow loads arrive in time, like the rest" }
    end
    return { claims = f.input.load.slow_lost, remedy = f.input.load.slow_remedy, confidence = 0.75,
             basis = "the slow loads take as long as the median load" }
  end,

  tests = {
    { name = "5 loads of 100 hold the run up",
      edges = { ["input.load.count"] = 25, ["input.load.slow_count"] = 2, ["input.load.slow_lost"] = 6e8, ["input.workers_busy"] = 0.4, ["window.device_time"] = 1e11 },
      facts = { window = { device_time = 1e10 },
                input = { lost = 1.2e9, remedy = true, workers_busy = 0.4,
                          load = { count = 100, median = 2e6, max = 3e8, slow_count = 5, slow_lost = 1e9,
                                   slow_remedy = true } } },
      expect = { share = 0.1, count = 5, loads = 100, median = 2e6, max = 3e8, part = 5 / 6 },
      saving = { claims = 1e9, confidence = 0.75 } },
    { name = "workers are ahead but for 4 steps of 50",
      edges = { ["input.load.median"] = 5e7 },
      facts = { window = { device_time = 5e9 }, steps = { count = 50, median = 1e8 },
                input = { lost = 6e8, remedy = true, workers_busy = 0.3, steps_affected_later = 0.08,
                          load = { count = 4, median = 1.5e8, max = 1.6e8, slow_count = 0, slow_lost = 0,
                                   slow_remedy = true } } },
      expect = { share = 0.12, count = 4, loads = 50, median = 1.5e8, max = 1.6e8, rare = "yes" },
      saving = { claims = 6e8, confidence = 0.65 } },
    { name = "a fifth of the steps wait long for data, at uneven distances",
      edges = { ["input.load.count"] = 6.12 },
      facts = { window = { device_time = 8.8e8 }, steps = { count = 18, median = 2.1e7 },
                input = { lost = 4.8e8, remedy = true, workers = 0, steps_affected_later = 0.25,
                          load = { count = 4, median = 1.2e8, max = 1.3e8, slow_count = 0, slow_lost = 0, slow_remedy = true } } },
      expect = { count = 4, loads = 18, rare = "yes" } },
    { name = "near miss: the same at even distances, as of four workers",
      facts = { window = { device_time = 8.8e8 }, steps = { count = 18, median = 2.1e7, stall = { what = "data loading", every = 4 } },
                input = { lost = 4.8e8, remedy = true, workers = 0, steps_affected_later = 0.25,
                          load = { count = 4, median = 1.2e8, max = 1.3e8, slow_count = 0, slow_lost = 0, slow_remedy = true } } },
      expect = "silent" },
    { name = "slow samples keep both workers busy, but hold only every fifth step",
      edges = { ["input.steps_affected_later"] = 0.3 },
      facts = { window = { device_time = 5e9 }, steps = { count = 20, median = 1e8 },
                input = { lost = 2e9, remedy = true, workers = 2, workers_busy = 0.83, steps_affected_later = 0.22,
                          load = { count = 4, median = 5e8, max = 6e8, slow_count = 0, slow_lost = 0,
                                   slow_remedy = true } } },
      expect = { share = 0.4, count = 4, loads = 20, rare = "yes" }, saving = { claims = 2e9 } },
    { name = "near miss: workers that never rest, and one wait per round once the reserve is used up",
      edges = { ["input.workers_busy"] = 0.95 },
      facts = { window = { device_time = 2e8 }, steps = { count = 32, median = 5e6, outliers = { rows = { { index = 23 }, { index = 31 } } } },
                input = { lost = 3e7, remedy = true, workers = 8, workers_busy = 1, steps_affected_later = 0.06,
                          load = { count = 2, median = 2.8e7, max = 2.8e7, slow_count = 0, slow_lost = 0, slow_remedy = true } } },
      expect = "silent" },
    { name = "slow samples at other distances than rounds",
      facts = { window = { device_time = 2e8 }, steps = { count = 32, median = 5e6, outliers = { rows = { { index = 23 }, { index = 29 } } } },
                input = { lost = 3e7, remedy = true, workers = 8, workers_busy = 1, steps_affected_later = 0.06,
                          load = { count = 2, median = 2.8e7, max = 2.8e7, slow_count = 0, slow_lost = 0, slow_remedy = true } } },
      expect = { rare = "yes" }, saving = { claims = 3e7 } },
    { name = "workers never rest, but only two slow batches hold the run up",
      edges = { ["input.batch.slow_count"] = 2, ["input.batch.slow_part"] = 0.5, ["input.batch.usual"] = 2.3e8 },
      facts = { window = { device_time = 8.5e8 }, steps = { count = 15, median = 1.5e7, outliers = { rows = { { index = 5 } } } },
                input = { lost = 6.2e8, remedy = true, workers = 8, workers_busy = 1, steps_affected_later = 1,
                          batch = { count = 17, slow_count = 4, slow_part = 1, usual = 2.8e7 },
                          load = { count = 45, median = 1.6e4, max = 6.2e8, slow_count = 15, slow_lost = 6.2e8, slow_remedy = true } } },
      expect = { count = 4, loads = 17, rare = "yes" }, saving = { claims = 6.2e8 } },
    { name = "near miss: slow batches of workers that could not keep up without them either",
      facts = { window = { device_time = 8.5e8 }, steps = { count = 15, median = 1.5e7, outliers = { rows = { { index = 5 } } } },
                input = { lost = 6.2e8, remedy = true, workers = 8, workers_busy = 1, steps_affected_later = 1,
                          batch = { count = 17, slow_count = 4, slow_part = 1, usual = 2.5e8 },
                          load = { count = 45, median = 1.6e4, max = 6.2e8, slow_count = 15, slow_lost = 6.2e8, slow_remedy = true } } },
      expect = "silent" },
    { name = "near miss: slow batches, but the GPU waits at other times",
      facts = { window = { device_time = 8.5e8 }, steps = { count = 15, median = 1.5e7, outliers = { rows = { { index = 5 } } } },
                input = { lost = 6.2e8, remedy = true, workers = 8, workers_busy = 1, steps_affected_later = 1,
                          batch = { count = 17, slow_count = 4, slow_part = 0.1, usual = 2.8e7 },
                          load = { count = 45, median = 1.6e4, max = 6.2e8, slow_count = 15, slow_lost = 6.2e8, slow_remedy = true } } },
      expect = "silent" },
    { name = "near miss: two busy workers, and every other step waits",
      facts = { window = { device_time = 5e9 }, steps = { count = 20, median = 1e8 },
                input = { lost = 2e9, remedy = true, workers = 2, workers_busy = 0.97, steps_affected_later = 0.5,
                          load = { count = 10, median = 2e8, max = 2.2e8, slow_count = 0, slow_lost = 0,
                                   slow_remedy = true } } },
      expect = "silent" },
    { name = "near miss: several loads per step, of which the first waits in each step",
      facts = { window = { device_time = 2e10 }, steps = { count = 11, median = 2e9 },
                input = { lost = 4e9, remedy = true, workers_busy = 0.03, steps_affected_later = 1,
                          load = { count = 66, median = 2e4, max = 4e8, slow_count = 11, slow_lost = 4e9, slow_remedy = true } } },
      expect = "silent" },
    { name = "near miss: every fourth load waits, as with too few workers",
      facts = { window = { device_time = 1e10 }, steps = { count = 100, median = 1e8 },
                input = { lost = 1e9, remedy = true, steps_affected_later = 0.25,
                          load = { count = 100, median = 1e6, max = 5e7, slow_count = 25, slow_lost = 1e9,
                                   slow_remedy = true } } },
      expect = "silent" },
    { name = "near miss: workers that never rest",
      facts = { window = { device_time = 1e10 },
                input = { lost = 1.2e9, remedy = true, workers_busy = 0.99,
                          load = { count = 100, median = 2e6, max = 3e8, slow_count = 5, slow_lost = 1e9,
                                   slow_remedy = true } } },
      expect = "silent" },
    { name = "near miss: all loads are slow, some a little slower",
      facts = { window = { device_time = 1e10 },
                input = { lost = 4e9, remedy = true,
                          load = { count = 100, median = 4e7, max = 1.5e8, slow_count = 3, slow_lost = 4e8,
                                   slow_remedy = true } } },
      expect = "silent" },
    { name = "near miss: waits at even distances, and nobody knows whether the workers rest",
      facts = { window = { device_time = 5e9 },
                steps = { count = 50, median = 1e8, stall = { every = 12, what = "data loading" } },
                input = { lost = 6e8, remedy = true, steps_affected_later = 0.08,
                          load = { count = 4, median = 1.5e8, max = 1.6e8, slow_count = 0, slow_lost = 0, slow_remedy = true } } },
      expect = "silent" },
    { name = "two waits, behind which the loop, but not the GPU, waits for the next batches",
      edges = { ["steps.count"] = 33, ["input.load.max"] = 4.4e8 },
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1.6e8, stall = { every = 11, what = "data loading" } },
                input = { lost = 1e9, remedy = true, steps_affected_later = 0.44,
                          load = { count = 3, median = 4e8, max = 6e8, slow_count = 0, slow_lost = 0, slow_remedy = true } } },
      expect = { share = 0.25, count = 3, loads = 20, rare = "yes" }, saving = { claims = 1e9 } },
    { name = "near miss: two waits of one length, eight steps apart: eight workers that read slowly",
      facts = { window = { device_time = 7.4e8 },
                steps = { count = 16, median = 1e7, stall = { every = 8, what = "data loading" } },
                input = { lost = 5.7e8, remedy = true, steps_affected_later = 0.1,
                          load = { count = 2, median = 3.25e8, max = 3.26e8, slow_count = 0, slow_lost = 0, slow_remedy = true } } },
      expect = "silent" },
    { name = "near miss: every fourth step waits, in a few pieces, and whether workers rest is known",
      facts = { window = { device_time = 4e9 }, steps = { count = 20, median = 1.6e8 },
                input = { lost = 1e9, remedy = true, workers_busy = 0.3, steps_affected_later = 0.44,
                          load = { count = 3, median = 4e8, max = 6e8, slow_count = 0, slow_lost = 0, slow_remedy = true } } },
      expect = "silent" },
    { name = "near miss: short waits in a few steps",
      facts = { window = { device_time = 5e9 }, steps = { count = 50, median = 1e8 },
                input = { lost = 8e7, remedy = true, steps_affected_later = 0.16,
                          load = { count = 8, median = 1e7, max = 1.1e7, slow_count = 0, slow_lost = 0, slow_remedy = true } } },
      expect = "silent" },
    { name = "the launching thread was seen neither to load data nor to wait for it",
      facts = { window = { device_time = 1e10 },
                input = { lost = 0, remedy = true,
                          load = { count = 0, median = 0, max = 0, slow_count = 0, slow_lost = 0, slow_remedy = true } } },
      expect = "not_applicable" },
    { name = "loading cannot be seen", facts = { window = { device_time = 1e10 } }, expect = "cannot_tell" },
  },
}
