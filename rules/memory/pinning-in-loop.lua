-- Host memory is pinned or unpinned in the loop. Each call walks and locks pages and changes the GPU's page tables,
-- which can take longer than the copy it is for.
return {
  id        = "memory/pinning-in-loop",
  title     = "Pin host memory once",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "code",
  priority  = 81,
  explains  = { "memory/alloc-in-loop", "sync/host-busy-wait", "host/cpu-bound" },
  knowledge = { "K-H11", "K-H14" },

  needs      = { "window.device_time", "calls.host_register.per_step", "calls.host_register.lost", "calls.host_register.remedy" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_count" },

  symptom = "{count:count} calls a step pin or unpin host memory while the GPU waits: {share:pct} of the GPU time.",
  cause   = "Buffers are pinned for one copy and given back.",
  fixes   = {
    { action  = "Pin a pool of buffers before the loop and use it in turn",
      snippet = "buffers = [torch.empty(shape, pin_memory=True) for _ in range(3)]",
      language = "python" },
    { action  = "Let the loader's pinning thread do it",
      snippet = "loader = DataLoader(dataset, pin_memory=True, num_workers=8)",
      language = "python" },
    { action = "In CUDA C++ keep cudaHostRegister outside the loop" },
  },
  false_positives = "Pinned caches that still grow in the first steps.",
  references = { "cuda-best-practices/pinned-memory", "cuda-best-practices/allocation" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.calls.host_register.per_step > 0, "there is none of it"
  end,

  detect = function(f, t)
    local lost = share(f.calls.host_register.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.calls.host_register.per_step, t.min_count) then return nil end
    return { share = lost, count = f.calls.host_register.per_step }
  end,

  saving = function(f)
    return { claims = f.calls.host_register.lost, remedy = f.calls.host_register.remedy, confidence = 0.65, basis = "no pinning in the loop" }
  end,

  tests = {
    { name = "a buffer is pinned for each batch",
      facts = { window = { device_time = 1e9 }, calls = { host_register = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: cached pinned buffers",
      facts = { window = { device_time = 1e9 }, calls = { host_register = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, calls = { host_register = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no host memory is pinned in the loop",
      facts = { window = { device_time = 1e9 }, calls = { host_register = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
