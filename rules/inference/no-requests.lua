-- A server's GPU idles while there is nothing to serve. That is no fault: it tells how much of the server is used.
return {
  id        = "inference/no-requests",
  title     = "Send the server more requests, or give it less hardware",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "design",
  own_steps = true,
  knowledge = { "K-E1", "K-N6" },

  needs      = { "run.serves", "window.device_time", "serving.load", "serving.no_request.lost" },
  thresholds = { "min_share" },

  symptom = "The server had a request to work on for {load:pct} of the time. For {idle:pct} of the time, the GPU was idle because there was no request.",
  cause   = "Between engine steps, the launching thread waits in the operating system for the next request.",
  fixes   = {
    { action = "Judge latency from the steps, and throughput under the load that you expect" },
    { action = "If this is the usual load, serve several models on the GPU, or use a smaller GPU" },
  },
  false_positives = "A client that waits for each answer before it sends the next request. Its own time shows up here.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    if not f.run.serves then return false, "the run shows no model server" end
    return f.serving.no_request.lost.time > 0, "the server always had a request"
  end,

  detect = function(f, t)
    local idle = share(f.serving.no_request.lost.time, f.window.device_time)
    if not at_least(idle, t.min_share) then return nil end
    return { load = f.serving.load, idle = idle }
  end,

  tests = {
    { name = "a server that is half used",
      edges = { ["serving.no_request.lost"] = 5e7 },
      facts = { run = { serves = true }, window = { device_time = 1e9 }, serving = { load = 0.5, no_request = { lost = 5e8 } } },
      expect = { load = 0.5, idle = 0.5 } },
    { name = "near miss: a server under load",
      facts = { run = { serves = true }, window = { device_time = 1e9 }, serving = { load = 0.98, no_request = { lost = 2e7 } } },
      expect = "silent" },
    { name = "never without a request",
      facts = { run = { serves = true }, window = { device_time = 1e9 }, serving = { load = 1, no_request = { lost = 0 } } },
      expect = "not_applicable" },
    { name = "no server", facts = { run = { serves = true }, window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
