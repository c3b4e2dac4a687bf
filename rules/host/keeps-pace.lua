-- The launching thread waits for the next piece of a source that keeps its own rate: a camera, a sensor, a live stream, the
-- refresh of a display, a clock. The loop keeps pace with it, and cannot go faster.
return {
  id        = "host/keeps-pace",
  title     = "Give the GPU more work, or accept the pace of the source",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "design",
  knowledge = { "K-N6" },

  needs_loop = true,
  needs      = { "window.device_time", "host.source.lost", "host.source.rate" },
  thresholds = { "min_share" },

  symptom = "The program keeps pace with its source: about {rate:num} times per second, whatever its work takes. For {share:pct} of the time, the GPU is idle because the launching thread waits for the next piece or tick.",
  cause   = "The source, such as a camera, a live stream, a display or a timer of the program, has its own clock. Faster work on the GPU shortens the delay of each piece, but no more pieces come.",
  fixes   = {
    { action = "If the rate is wanted, use the time that is left: a larger model, more streams, or a second job on the GPU" },
    { action = "To measure the work itself, read the pieces from a file without the clock of the source, or turn off the limit: vertical synchronization, a frame limiter, a fixed time step" },
  },
  false_positives = "A source that could deliver faster if it were asked, such as a program behind a pipe with a limit of its rate.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    return f.host.source.rate > 0, "the program waits for no source that keeps its own rate"
  end,

  detect = function(f, t)
    local waiting = share(f.host.source.lost.time, f.window.device_time)
    if not at_least(waiting, t.min_share) then return nil end
    return { share = waiting, rate = f.host.source.rate }
  end,

  tests = {
    { name = "a camera with 30 frames per second",
      edges = { ["host.source.lost"] = 1e8 },
      facts = { window = { device_time = 1e9 }, host = { source = { rate = 30, lost = 6.7e8 } } },
      expect = { share = 0.67, rate = 30 } },
    { name = "near miss: frames wait for the program, not the program for frames",
      facts = { window = { device_time = 1e9 }, host = { source = { rate = 30, lost = 5e7 } } },
      expect = "silent" },
    { name = "no source",
      facts = { window = { device_time = 1e9 }, host = { source = { rate = 0, lost = 0 } } },
      expect = "not_applicable" },
    { name = "no OS calls were recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
