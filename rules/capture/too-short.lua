-- The capture has no steady steps, or too few: what it shows may be start-up.
return {
  id        = "capture/too-short",
  title     = "Capture at least five steps after the warm-up",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-I7", "K-O5", "K-O1" },
  effort    = "flag",
  own_steps = true,
  topic     = "too-short",

  needs      = { "capture.steps", "run.ops" },
  optional   = { "steps.count", "window.reason" },
  thresholds = { "min_steps" },

  symptom = "{found:text}: {reason:text}.",
  cause   = "The first steps compile, load and allocate, so their shares say little about a long run. One step cannot show what varies.",
  fixes   = {
    { action = "Mark the steps with ranges and capture ten of them after a warm-up",
      snippet = "for i, batch in enumerate(loader):\n    if i == 20: torch.cuda.profiler.start()\n    if i == 30: torch.cuda.profiler.stop()\n" ..
                "    with torch.cuda.nvtx.range(f\"step {i}\"):\n        train_step(batch)\n" ..
                "# nsys profile --capture-range=cudaProfilerApi --capture-range-end=stop -o report -- COMMAND",
      language = "python", ["for"] = { "pytorch", "nvidia" } },
    { action = "Without changing the code, skip the start and record half a minute",
      snippet = "nsys profile --delay=120 --duration=30 -o report -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "With torch.profiler, use a schedule",
      snippet = "profile(schedule=torch.profiler.schedule(wait=5, warmup=3, active=10), on_trace_ready=handler)", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Programs without repeating steps.",
  references = { "nsys/cli-options", "pytorch/profiler", "nsys/user-guide" },

  applies = function(f) return f.run.ops > 0, "no GPU work was recorded" end,

  detect = function(f, t)
    local steady = f.steps.count or 0
    if at_least(steady, t.min_steps) then return nil end
    local found = "No repeating steps were found"
    if f.capture.steps > 0 then
      found = "Only " .. tostring(math.floor(steady)) .. " of " .. tostring(math.floor(f.capture.steps)) .. " captured steps are steady"
    end
    return { steady = steady, steps = f.capture.steps, found = found,
             reason = f.window.reason or "too few to tell steady state from start-up" }
  end,

  tests = {
    { name = "a single pass",
      facts = { run = { ops = 12 }, capture = { steps = 0 }, window = { reason = "a single pass" } },
      expect = { steady = 0, steps = 0, reason = "a single pass" } },
    { name = "two steps after warm-up",
      facts = { run = { ops = 3000 }, capture = { steps = 3 }, steps = { count = 2 } },
      expect = { steady = 2, steps = 3, reason = "too few to tell steady state from start-up" } },
    { name = "near miss: three steady steps are enough",
      facts = { run = { ops = 5496 }, capture = { steps = 4 }, steps = { count = 3 } },
      expect = "silent" },
    { name = "no GPU work", facts = { run = { ops = 0 }, capture = { steps = 0 } }, expect = "not_applicable" },
    { name = "the input has no timeline", facts = {}, expect = "cannot_tell" },
  },
}
