-- Unified (managed) memory moves when somebody touches it: a kernel that touches a page on the host faults, stops, and
-- waits for the page, page after page. A prefetch moves the same bytes in large pieces before they are needed.
return {
  id        = "transfer/managed-memory-faults",
  title     = "Prefetch managed memory so that neither kernels nor the host page-fault",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 85,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates", "transfer/many-small-copies", "kernel/hot", "step/low-mfu" },
  knowledge = { "K-H15" },

  loss           = "copy.migration",
  not_applicable = "no managed memory migrates",
  evidence       = { "count", "bytes", "time", faults = "gpu_faults" },
  needs          = { "copy.migration.remedy" },
  optional       = { "copy.migration.gpu_faults", "copy.migration.back_bytes", "copy.migration.evicted_bytes", "copy.migration.prefetched_bytes",
                 "copy.migration.returned_bytes" },
  thresholds     = { "min_share", "min_count", "most_evicted" },

  symptom = "Page faults move {up:bytes} to the GPU and {back:bytes} back to the host: {count:count} migrations, with what the driver fetches along with them.{prefetched_text:text} Migrations, and kernels that wait for them, take {share:pct} of the time.",
  cause   = "Pages move only when touched, and the kernel or the host waits.",
  fixes   = {
    { reason = "early", action = "Prefetch after the host last touches the data: what it touches later moves back, and the kernel faults on it again" },
    { reason = "kernel", action  = "Prefetch what a kernel uses, on its stream",
      snippet = [[int device;
cudaGetDevice(&device);
cudaMemPrefetchAsync(data, bytes, device, stream);            // CUDA 13: a cudaMemLocation in place of device, and flags
kernel<<<grid, block, 0, stream>>>(data);]],
      language = "cpp", ["for"] = { "c++" } },
    { reason = "host", action  = "Prefetch results to the host before it reads them",
      snippet = [[kernel<<<grid, block, 0, stream>>>(data);
cudaMemPrefetchAsync(data, bytes, cudaCpuDeviceId, stream);   // CUDA 13: a cudaMemLocation in place of the device, and flags
cudaStreamSynchronize(stream);                                // then read data]],
      language = "cpp", ["for"] = { "c++" } },
    { reason = "again", action = "Prefetch after the host last touches the data: what it touches later moves back, and the kernel faults on it again" },
    { action  = "Tell the driver which processor reads the data and where it should stay",
      snippet = [[cudaMemAdvise(data, bytes, cudaMemAdviseSetReadMostly, device);           // CUDA 13: a cudaMemLocation in place of device
cudaMemAdvise(data, bytes, cudaMemAdviseSetPreferredLocation, device);]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Compile for separate memory: then data directives around the loop move whole arrays, before they are needed",
      snippet = "nvfortran -acc -gpu=mem:separate solver.f90   # before 24.9: -gpu=nomanaged; in the source: !$acc data copy(pressure)", language = "bash", ["for"] = { "openacc", "openmp", "fortran" } },
    { action = "Use cudaMalloc and explicit copies for data with a clear owner, and do not touch it from the host between kernels" },
  },
  false_positives = "First use of the data, before the loop. Data that is larger than the GPU's memory has to migrate.",
  references = { "cuda-programming/unified-memory" },

  -- Where pages drive each other out, a prefetch drives out the next ones: that is transfer/migration-thrash.
  detect = function(f, t, e)
    if at_least(share(f.copy.migration.evicted_bytes or 0, e.bytes), t.most_evicted) then return nil end
    e.back = f.copy.migration.back_bytes or 0
    e.up = math.max(0, e.bytes - e.back)
    e.prefetched = f.copy.migration.prefetched_bytes or 0
    local returned = f.copy.migration.returned_bytes or 0
    local early = 2 * returned > e.prefetched
    e.prefetched_text = early and " Most of what the program prefetches to the GPU goes back to the host before a kernel runs."
      or e.prefetched > 0 and " The program prefetches some of its memory itself." or ""
    e.ways = {}
    if early then table.insert(e.ways, { reason = "early" }) end
    if e.up > 0 then table.insert(e.ways, { reason = "kernel" }) end
    if e.back > 0 then table.insert(e.ways, { reason = "host" }) end
    if not early and e.prefetched > 0 and e.back > 0 and e.up > 0 then table.insert(e.ways, { reason = "again" }) end
    return e
  end,

  saving = function(f)
    return { claims = f.copy.migration.lost, remedy = f.copy.migration.remedy,
             confidence = f.copy.migration.gpu_faults and 0.8 or 0.65, basis = "the data arrives before the kernels start" }
  end,

  tests = {
    { name = "kernels stop for pages all the time",
      edges = { ["copy.migration.count"] = 3, ["copy.migration.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 },
                copy = { migration = { count = 3000, bytes = 2e8, time = 3e7, gpu_faults = 1200, lost = 1.5e8,
                                       remedy = true } } },
      expect = { share = 0.15, count = 3000, bytes = 2e8, time = 3e7, faults = 1200, up = 2e8, back = 0, prefetched_text = "",
                 ways = { { reason = "kernel" } } },
      saving = { claims = 1.5e8, confidence = 0.8 } },
    { name = "page faults were not captured",
      facts = { window = { device_time = 1e9 }, copy = { migration = { count = 300, bytes = 2e8, time = 3e7, lost = 3e7,
                                                                       remedy = true } } },
      expect = { share = 0.03 }, saving = { confidence = 0.65 } },
    { name = "the host touches what was prefetched, and reads results without a prefetch",
      facts = { window = { device_time = 1e9 }, copy = { migration = { count = 1153, bytes = 4e8, time = 6e7, lost = 6e7, remedy = true,
                                                                       back_bytes = 2.7e8, prefetched_bytes = 1.3e8 } } },
      expect = { up = 1.3e8, back = 2.7e8, prefetched_text = " The program prefetches some of its memory itself.",
                 ways = { { reason = "kernel" }, { reason = "host" }, { reason = "again" } } } },
    { name = "prefetched before the host fills the arrays",
      facts = { window = { device_time = 1e9 }, copy = { migration = { count = 1153, bytes = 4e8, time = 6e7, lost = 6e7, remedy = true,
                                                                       back_bytes = 2.7e8, prefetched_bytes = 1.3e8, returned_bytes = 1.3e8 } } },
      expect = { prefetched_text = " Most of what the program prefetches to the GPU goes back to the host before a kernel runs.",
                 ways = { { reason = "early" }, { reason = "kernel" }, { reason = "host" } } } },
    { name = "near miss: prefetched, nothing waits",
      facts = { window = { device_time = 1e9 }, copy = { migration = { count = 100, bytes = 2e8, time = 2e7, lost = 1e6,
                                                                       remedy = true } } },
      expect = "silent" },
    { name = "near miss: pages drive each other out",
      edges = { ["copy.migration.evicted_bytes"] = 5e7 },
      facts = { window = { device_time = 1e9 }, copy = { migration = { count = 300, bytes = 2e8, time = 3e7, lost = 3e7, remedy = true,
                                                                       back_bytes = 9e7, evicted_bytes = 9e7 } } },
      expect = "silent" },
    { name = "near miss: two migrations",
      facts = { window = { device_time = 1e9 }, copy = { migration = { count = 2, bytes = 2e8, time = 2e7, lost = 4e7,
                                                                       remedy = true } } },
      expect = "silent" },
    { name = "no managed memory", facts = { window = { device_time = 1e9 }, copy = { migration = { count = 0 } } },
      expect = "not_applicable" },
    { name = "migrations were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
