-- cudaGetDeviceProperties, cudaMemGetInfo, cudaDeviceEnablePeerAccess and the like in the loop: they take a lock in the
-- driver, and some ask the device.
return {
  id        = "host/device-queries",
  title     = "Query and set up devices once, before the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 72,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-H12", "K-G2" },

  needs_loop = true,
  loss       = "calls.device_query",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "The loop queries or sets up devices, kernels or memory ({count:count} calls {per:text}). The GPU waits {share:pct} of the time for that.",
  cause   = "Such calls take a lock in the driver, and some ask the device. What they return or set hardly changes from one step to the next.",
  fixes   = {
    { action  = "Query once before the loop",
      snippet = "properties = torch.cuda.get_device_properties(0)     # before the loop",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "For single properties of a device, use the cheap call",
      snippet = [[int sms = 0;
cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);   // not cudaGetDeviceProperties]],
      language = "cpp", ["for"] = { "c++" } },
    { action  = "Read PyTorch's own counters instead of querying the driver",
      snippet = "torch.cuda.memory_allocated()              # instead of torch.cuda.mem_get_info()",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Query what does not change once, before the loop, and keep the answer" },
  },
  false_positives = "A monitor that has to query.",
  references = { "cuda-programming/streams" },

  saving = { confidence = 0.65, basis = "no devices are queried in the loop" },

  tests = {
    { name = "free memory is asked for in each layer",
      edges = { ["calls.device_query.lost"] = 2e7, ["calls.device_query.per_step"] = 0.5 },
      facts = { window = { device_time = 1e9 }, calls = { device_query = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: cheap queries",
      facts = { window = { device_time = 1e9 }, calls = { device_query = { per_step = 10, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, calls = { device_query = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "the driver is not asked in the loop",
      facts = { window = { device_time = 1e9 }, calls = { device_query = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
