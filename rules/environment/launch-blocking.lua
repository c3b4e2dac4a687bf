-- Launching calls that return only when their kernel has ended, as CUDA_LAUNCH_BLOCKING=1 makes them: the host can never
-- be ahead of the GPU, and the GPU waits before every kernel. Told from the calls themselves, with or without the
-- environment in the report.
return {
  id        = "environment/launch-blocking",
  title     = "Unset CUDA_LAUNCH_BLOCKING so that kernel launches return at once",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  topic     = "switch",
  priority  = 90,
  explains  = { "launch/bound", "launch/slow-calls", "launch/tiny-kernels", "launch/graph-candidate", "sync/host-busy-wait",
                "host/cpu-bound" },
  knowledge = { "K-H12", "K-A1" },

  needs      = { "window.device_time", "launch.waiting.share", "launch.waiting.lost", "launch.waiting.remedy" },
  optional   = { "environment.launch_blocking", "launch.waiting.alone" },
  thresholds = { "min_share", "min_waiting", "min_alone" },

  symptom = "Launching calls return only when their kernel has ended, for {waiting:pct} of the kernel time ({setting:text}). The host is never ahead of the GPU, which computes nothing{alone_text:text} for {share:pct} of the time.",
  cause   = "CUDA_LAUNCH_BLOCKING=1 is set, or a debugger or sanitizer runs the launches one at a time.",
  fixes   = {
    { action  = "Unset it; to look for an error, run compute-sanitizer once",
      snippet = "unset CUDA_LAUNCH_BLOCKING",
      language = "bash" },
  },
  false_positives = "A run under a debugger.",
  references = { "cuda-runtime/sync-behavior", "pytorch/cuda-semantics" },

  applies = function(f)
    return f.launch.waiting.share > 0, "no launch waits for its kernel"
  end,

  detect = function(f, t)
    local lost = share(f.launch.waiting.lost.time, f.window.device_time)
    if not at_least(f.launch.waiting.share, t.min_waiting) or not at_least(lost, t.min_share) then return nil end
    local set = f.environment.launch_blocking
    local alone = share(f.launch.waiting.alone or 0, f.window.device_time)
    return { share = lost, waiting = f.launch.waiting.share,
             alone_text = at_least(alone, t.min_alone) and ", or runs one small kernel at a time," or "",
             setting = set and "CUDA_LAUNCH_BLOCKING=" .. set or "the environment does not say why" }
  end,

  saving = { claims = "launch.waiting.lost", remedy = "launch.waiting.remedy", confidence = 0.85,
             basis = "launches do not wait for their kernels" },

  tests = {
    { name = "the switch is set",
      edges = { ["launch.waiting.lost"] = 2e7, ["launch.waiting.share"] = 0.5 },
      facts = { window = { device_time = 1e9 }, launch = { waiting = { share = 0.97, lost = 4e8, remedy = true } }, environment = { launch_blocking = "1" } },
      expect = { share = 0.4, waiting = 0.97, setting = "CUDA_LAUNCH_BLOCKING=1" },
      saving = { claims = 4e8 } },
    { name = "the environment was not recorded",
      facts = { window = { device_time = 1e9 }, launch = { waiting = { share = 0.97, lost = 4e8, remedy = true } } },
      expect = { setting = "the environment does not say why" } },
    { name = "small kernels for several streams, one after the other",
      edges = { ["launch.waiting.alone"] = 2e7 },
      facts = { window = { device_time = 1e9 }, launch = { waiting = { share = 1, alone = 4e8, lost = 4.1e8, remedy = true } } },
      expect = { share = 0.41, alone_text = ", or runs one small kernel at a time," },
      saving = { claims = 4.1e8 } },
    { name = "near miss: a few launches wait",
      facts = { window = { device_time = 1e9 }, launch = { waiting = { share = 0.1, lost = 4e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: it costs nothing",
      facts = { window = { device_time = 1e9 }, launch = { waiting = { share = 0.97, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "no launch waits",
      facts = { window = { device_time = 1e9 }, launch = { waiting = { share = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "calls were not recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
