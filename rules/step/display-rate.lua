-- The loop runs once per refresh of a display: a program that draws waits for vertical sync. It could compute more often, and
-- nobody would see it. Who waits for anything else keeps such a rate by chance only.
return {
  id        = "step/display-rate",
  title     = "Turn vertical sync off to measure, or accept the rate of the display",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  topic     = "display-rate",
  effort    = "flag",
  knowledge = { "K-N6" },

  needs_loop = true,
  needs      = { "steps.count", "steps.median", "budget.idle", "window.time" },
  thresholds = { "rate", "apart", "min_idle", "min_steps" },

  symptom = "The loop runs {rate:num} times per second, as often as a display refreshes, and the GPU is idle for {share:pct} of the time.",
  cause   = "A program that draws waits for the next refresh (vertical sync), whatever its work takes. Then faster work on the GPU changes nothing.",
  fixes   = {
    { action = "To measure the work itself, turn vertical sync off",
      snippet = "export __GL_SYNC_TO_VBLANK=0    # OpenGL on Linux; Vulkan: a present mode that does not wait, such as immediate", language = "bash", ["for"] = { "nvidia" } },
    { action = "If the rate is wanted, use the time that is left: finer grids, more detail, or a second job on the GPU" },
  },
  false_positives = "A timer or a camera with the rate of a display.",
  references = { "nvidia/gpu-background" },

  applies = function(f, t)
    return at_least(f.steps.count, t.min_steps), "a few iterations may take as long as a refresh by chance"
  end,

  detect = function(f, t)
    local idle = share(f.budget.idle, f.window.time)
    if not at_least(idle, t.min_idle) then return nil end
    local per_second = 1e9 / f.steps.median
    -- Displays for games refresh twice as often.
    for _, rate in ipairs({ t.rate, 2 * t.rate }) do
      if math.abs(per_second - rate) <= t.apart * rate then return { rate = rate, share = idle } end
    end
    return nil
  end,

  tests = {
    { name = "a simulation that draws each of its iterations",
      edges = { ["budget.idle"] = 5e8, ["steps.count"] = 30 },
      facts = { steps = { count = 640, median = 16.665e6 }, budget = { idle = 9.9e8 }, window = { time = 1e9 } },
      expect = { rate = 60, share = 0.99 } },
    { name = "a display for games",
      facts = { steps = { count = 640, median = 8.334e6 }, budget = { idle = 9.9e8 }, window = { time = 1e9 } },
      expect = { rate = 120 } },
    { name = "a display that is a little fast",
      facts = { steps = { count = 640, median = 16.6384e6 }, budget = { idle = 9.9e8 }, window = { time = 1e9 } },
      expect = { rate = 60 } },
    { name = "near miss: 60.14 times per second",
      facts = { steps = { count = 640, median = 16.6284e6 }, budget = { idle = 9.9e8 }, window = { time = 1e9 } }, expect = "silent" },
    { name = "near miss: 61 times per second",
      facts = { steps = { count = 640, median = 16.4e6 }, budget = { idle = 9.9e8 }, window = { time = 1e9 } }, expect = "silent" },
    { name = "near miss: the GPU computes nearly all of the time between two refreshes",
      facts = { steps = { count = 640, median = 16.665e6 }, budget = { idle = 1e8 }, window = { time = 1e9 } }, expect = "silent" },
    { name = "a few iterations may take that long by chance",
      facts = { steps = { count = 8, median = 16.665e6 }, budget = { idle = 9.9e8 }, window = { time = 1e9 } }, expect = "not_applicable" },
    { name = "no steps", facts = { budget = { idle = 9.9e8 }, window = { time = 1e9 } }, expect = "cannot_tell" },
  },
}
