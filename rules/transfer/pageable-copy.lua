-- Asynchronous copies between ordinary (pageable) host memory and the GPU.
-- The driver stages such memory through a small pinned buffer of its own: the copy is slower than the link, and the
-- call named "Async" holds the host for all or most of it, so that the host is no longer ahead of the GPU.
return {
  id        = "transfer/pageable-copy",
  title     = "Use pinned host memory for copies to and from the GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 75,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates", "sync/host-busy-wait", "transfer/copy-operator" },
  knowledge = { "K-H11", "K-H18", "K-N17" },

  loss           = "copy.pageable",
  not_applicable = "no asynchronous copy in the usual steps of the loop uses pageable memory, but for small ones; copies before the loop do not count",
  evidence       = { "count", "bytes", "per_step", rate = "bandwidth", link_rate = "hw.host_link_bytes_per_s" },
  optional       = { "hw.host_link_bytes_per_s", "copy.groups", "copy.pageable.remedy", "window.supports_verdict", "run.kind", "startup.upload" },
  thresholds     = { "min_share", "min_count", "many_in_pass" },

  symptom = "Copies to or from pageable host memory reach {rate:rate}: {count:count} copies, {bytes:bytes} in all. Meanwhile, the GPU computes nothing for {share:pct} of the time.",
  cause   = "The driver stages pageable memory through a small pinned buffer, and the call blocks the host meanwhile.",
  fixes   = {
    { reason = "up", action = "Pin the loader's batches, or a buffer that you fill again for each copy, and copy without blocking",
      snippet = [[loader = DataLoader(dataset, pin_memory=True)
x = x.to(device, non_blocking=True)]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Allocate the host buffer as pinned memory, once, and reuse it",
      snippet = [[float* host;
cudaMallocHost(&host, bytes);          // or cudaHostRegister(existing, bytes, cudaHostRegisterDefault)
cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, copy_stream);]],
      language = "cpp", ["for"] = { "c++" } },
    { reason = "up", action = "Keep the array on the host in pinned memory, which cupyx.empty_pinned() allocates once, and fill it in place",
      snippet = [[pinned = cupyx.empty_pinned(x.shape, x.dtype)   # once, before the loop
pinned[...] = array
x.set(pinned, stream=stream)                    # x: an array on the GPU]],
      language = "python", ["for"] = { "cupy" } },
    { reason = "down", action = "Copy results into pinned memory, which cupyx.empty_pinned() allocates once, and read them one step later",
      snippet = [[pinned = cupyx.empty_pinned(y.shape, y.dtype)   # once, before the loop
y.get(stream=stream, out=pinned, blocking=False)
# one step later: stream.synchronize(), then read pinned]],
      language = "python", ["for"] = { "cupy" } },
    { action  = "Keep arrays on the host in pinned memory, and copy on a stream",
      snippet = [[pinned = cuda.pinned_array(x.shape, x.dtype)    # once, before the loop
pinned[...] = array
x.copy_to_device(pinned, stream=stream)         # x: an array on the GPU; back: x.copy_to_host(pinned, stream=stream)]],
      language = "python", ["for"] = { "numba" } },
    { reason = "up", action = "If the data is the same in each step, such as a graph or a table, upload it once, before the loop" },
    { reason = "down", action = "Copy results into a pinned tensor, and read it only after an event",
      snippet = [[out = torch.empty(y.shape, dtype=y.dtype, pin_memory=True)
out.copy_(y, non_blocking=True); done = torch.cuda.Event(); done.record()]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "down", action = "Copy less: compute on the GPU what the host makes of the results, such as the class of each output, a metric or a sample",
      ["for"] = { "pytorch", "tensorflow", "jax", "cupy" } },
    { action = "With the NVIDIA HPC compilers, allocate host arrays as pinned memory",
      snippet = "nvfortran -acc -gpu=mem:separate:pinnedalloc solver.f90   # before 24.9: -gpu=pinned", language = "bash", ["for"] = { "openacc", "openmp", "fortran" } },
    { action = "Send the next batch before the step, so that it is copied while the GPU works",
      snippet = "following = jax.device_put(next(batches))   # returns before the copy is done", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Uploads that happen once. Memory that is pinned for a single copy costs more than it saves: pin once.",
  references = { "cuda-best-practices/pinned-memory", "pytorch/pinned-memory", "pytorch/dataloader-pinning" },

  -- Pinned batches of a loader help nobody whose results come back, and the other way around.
  detect = function(f, t, e)
    local pageable = filter(f.copy.groups or {}, function(row) return row.memory == "pageable" end)
    local up = sum(filter(pageable, function(row) return row.direction == "host to device" end), "time")
    local down = sum(filter(pageable, function(row) return row.direction == "device to host" end), "time")
    e.ways = {}
    if up > 0 or down == 0 then table.insert(e.ways, { reason = "up", time = up }) end
    if down > 0 then table.insert(e.ways, { reason = "down", time = down }) end
    if down > up then e.reason = "down" elseif up > 0 then e.reason = "up" end
    return e
  end,

  -- What is copied once is pinned for one copy, and pinning takes as long as the driver's staging or longer. Many copies
  -- throughout a single pass can share a buffer that is pinned once.
  saving = function(f, t)
    local once = f.window.supports_verdict == false
    if once and (f.run.kind ~= "one-pass" or not at_least(f.copy.pageable.count, t.many_in_pass) or (f.startup.upload or 0) > 0) then return nil end
    return { claims = f.copy.pageable.lost, remedy = f.copy.pageable.remedy, confidence = once and 0.4 or 0.9,
             basis = "copies run at the rate of pinned memory, and the host is free meanwhile" }
  end,

  tests = {
    { name = "results go back: pinning the loader would not help",
      edges = { ["copy.pageable.count"] = 2, ["copy.pageable.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, hw = { host_link_bytes_per_s = 2.5e10 },
                copy = { groups = { { direction = "device to host", memory = "pageable", count = 50, time = 4e8 } },
                         pageable = { count = 50, bytes = 4e9, per_step = 5, bandwidth = 1e10, lost = 5e8, remedy = true } } },
      expect = { reason = "down" } },
    { name = "half the run waits for pageable batches",
      facts = { window = { device_time = 1e9 }, hw = { host_link_bytes_per_s = 2.5e10 },
                copy = { pageable = { count = 20, bytes = 2e9, bandwidth = 4e9, per_step = 1, lost = 5e8, remedy = true } } },
      expect = { share = 0.5, count = 20, bytes = 2e9, rate = 4e9, per_step = 1, link_rate = 2.5e10 },
      saving = { claims = 5e8, confidence = 0.9 } },
    { name = "weights are uploaded while the program starts: pinning them for one copy would win nothing",
      facts = { window = { device_time = 1e9, supports_verdict = false },
                copy = { pageable = { count = 60, bytes = 1.2e8, bandwidth = 5e9, per_step = 60, lost = 5e8, remedy = true } } },
      expect = { share = 0.5 } },
    { name = "one pass over data that does not fit on the GPU: chunk after chunk",
      edges = { ["copy.pageable.count"] = 2 },
      facts = { window = { device_time = 1e9, supports_verdict = false }, run = { kind = "one-pass" },
                copy = { pageable = { count = 124, bytes = 9.5e9, bandwidth = 8e9, per_step = 124, lost = 3.6e8, remedy = true } } },
      expect = { share = 0.36 },
      saving = { claims = 3.6e8, confidence = 0.4 } },
    { name = "one pass with a few copies: each may be of memory of its own",
      facts = { window = { device_time = 1e9, supports_verdict = false }, run = { kind = "one-pass" },
                copy = { pageable = { count = 40, bytes = 1.2e9, bandwidth = 8e9, per_step = 8, lost = 3.6e8, remedy = true } } },
      expect = { share = 0.36 },
      saving = { claims = 0 } },
    { name = "one pass with enough copies of chunks",
      facts = { window = { device_time = 1e9, supports_verdict = false }, run = { kind = "one-pass" },
                copy = { pageable = { count = 66, bytes = 5e9, bandwidth = 8e9, per_step = 66, lost = 3.6e8, remedy = true } } },
      expect = { share = 0.36 },
      saving = { claims = 3.6e8, confidence = 0.4 } },
    { name = "one pass behind the upload of its weights",
      facts = { window = { device_time = 1e9, supports_verdict = false }, run = { kind = "one-pass" }, startup = { upload = 2e8 },
                copy = { pageable = { count = 124, bytes = 9.5e9, bandwidth = 8e9, per_step = 124, lost = 3.6e8, remedy = true } } },
      expect = { share = 0.36 },
      saving = { claims = 0 } },
    { name = "the device is not known",
      facts = { window = { device_time = 1e9 },
                copy = { pageable = { count = 20, bytes = 2e9, bandwidth = 4e9, per_step = 1, lost = 2e7, remedy = true } } },
      expect = { share = 0.02 } },
    { name = "near miss: the same copies, hidden behind kernels",
      facts = { window = { device_time = 1e9 },
                copy = { pageable = { count = 20, bytes = 2e9, bandwidth = 4e9, per_step = 1, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one upload in the window",
      facts = { window = { device_time = 1e9 },
                copy = { pageable = { count = 1, bytes = 2e9, bandwidth = 4e9, per_step = 0, lost = 3e8, remedy = true } } },
      expect = "silent" },
    { name = "all copies are pinned", facts = { window = { device_time = 1e9 }, copy = { pageable = { count = 0 } } },
      expect = "not_applicable" },
    { name = "memory kinds were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
