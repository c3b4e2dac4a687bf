-- An interactive session, such as a notebook: the program waits for its next command. That is no fault, but it dilutes
-- every share of the report.
return {
  id        = "host/waits-for-input",
  title     = "Analyze the part of the session in which the program works",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-N6" },

  needs      = { "run.serves", "window.device_time", "host.input.lost", "host.input.per_step", "host.input.between_from",
                 "host.input.between_to" },
  thresholds = { "min_share" },

  symptom = "For {share:pct} of the time, the program waits for input from outside, such as a request or the next cell of a notebook. The longest stretch of work lasts {length:time}, from {from:time} to {to:time}.",
  cause   = "The launching thread waits in its event loop until a person or another program sends something.",
  fixes   = {
    { action = "Analyze the stretch of work only, from A to B seconds after the start",
      snippet = "advise REPORT --window A:B", language = "bash" },
    { action = "Profile a script or a single cell, between cudaProfilerStart and cudaProfilerStop",
      snippet = "nsys profile --capture-range=cudaProfilerApi -o report -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "A program that waits for a slow peer over the network in a few of its steps.",
  references = { "nsys/user-guide" },

  applies = function(f)
    if f.run.serves then return false, "the run is a model server" end
    return f.host.input.lost.time > 0, "the program does not wait for input"
  end,

  detect = function(f, t)
    local waiting = share(f.host.input.lost.time, f.window.device_time)
    if not at_least(waiting, t.min_share) then return nil end
    local from, to = f.host.input.between_from, f.host.input.between_to
    return { share = waiting, from = from, to = to, length = to - from }
  end,

  tests = {
    { name = "a notebook",
      edges = { ["host.input.lost"] = 5e9 },
      facts = { run = { serves = false }, window = { device_time = 5e10 },
                host = { input = { lost = 4.9e10, per_step = 0.1, between_from = 2e9, between_to = 2.1e9 } } },
      expect = { share = 0.98, from = 2e9, to = 2.1e9, length = 1e8 } },
    { name = "near miss: one short wait",
      facts = { run = { serves = false }, window = { device_time = 5e10 },
                host = { input = { lost = 4.9e9, per_step = 0.1, between_from = 2e9, between_to = 2.1e10 } } },
      expect = "silent" },
    { name = "a server",
      facts = { run = { serves = true }, window = { device_time = 5e10 },
                host = { input = { lost = 4.9e10, per_step = 1, between_from = 2e9, between_to = 2.1e9 } } },
      expect = "not_applicable" },
    { name = "nothing was waited for",
      facts = { run = { serves = false }, window = { device_time = 5e10 },
                host = { input = { lost = 0, per_step = 0, between_from = 0, between_to = 0 } } },
      expect = "not_applicable" },
    { name = "no OS calls were recorded", facts = { run = { serves = false }, window = { device_time = 5e10 } }, expect = "cannot_tell" },
  },
}
