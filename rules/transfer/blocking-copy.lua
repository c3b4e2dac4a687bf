-- Copies by calls that return only when the data has moved (cudaMemcpy and its kin, a copy followed at once by a wait).
-- The host can queue nothing meanwhile, so the GPU runs dry during the copy and until the host is ahead again.
return {
  id        = "transfer/blocking-copy",
  title     = "Replace synchronous copies with asynchronous ones",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 75,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates", "sync/host-busy-wait", "transfer/copy-operator" },
  knowledge = { "K-H12", "K-B8" },

  loss           = "copy.blocking",
  not_applicable = "no synchronous copy, as by cudaMemcpy, is made in the usual steps of the loop, but for small ones; copies before the loop do not count",
  evidence       = { "count", "bytes", "per_step" },
  optional       = { "steps.count", "window.supports_verdict", "copy.blocking.remedy", "copy.blocking.pageable_share" },
  thresholds     = { "min_share", "min_count", "max_pageable" },

  symptom = "In {count:count} copies ({bytes:bytes} in all{memory:text}), the host is blocked until the data has moved. Meanwhile, the GPU computes nothing for {share:pct} of the time.",
  cause   = "The host can queue no work during a synchronous copy: the call waits for all earlier work and moves the data.",
  fixes   = {
    { action  = "Copy asynchronously from pinned memory on a separate stream, and let the kernels wait for an event",
      snippet = [[cudaMallocHost(&host, bytes);                     // once
cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, copy_stream);
cudaEventRecord(copied, copy_stream);
cudaStreamWaitEvent(compute_stream, copied, 0);]],
      language = "cpp", ["for"] = { "c++" } },
    { action  = "In PyTorch, let the loader pin its batches, and copy without blocking",
      snippet = [[loader = DataLoader(dataset, pin_memory=True)     # pinning a tensor in each step costs more than it wins
x = x.to(device, non_blocking=True)]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "loop", action = "If these arrays go back and forth in each step, keep them in a data region around the loop, and update only what the host reads",
      snippet = [[#pragma acc data copy(state[0:n])      // Fortran: !$acc data; OpenMP: #pragma omp target data map(tofrom: ...)
for (int step = 0; step < steps; ++step) advance(state, weights);   // in advance(): present(state)]],
      language = "cpp", ["for"] = { "openacc", "openmp" } },
    { reason = "loop", action = "Use two buffers in turn, so that one is copied while kernels use the other" },
    { reason = "loop", action = "If the same arrays go back and forth in each step, keep them on the GPU, and copy only what the host reads" },
    { reason = "once", action = "Send large arrays in pieces through one small pinned buffer that is used again, so that kernels work on one piece while the next one arrives" },
    { reason = "pass", action = "Split large copies into pieces, so that kernels work on one piece while the next one arrives" },
    { reason = "loop", action = "Fetch results every N steps, or after the next step's work has been queued" },
  },
  false_positives = "A program whose next input depends on this result on the host must wait for it. Memory that is copied once: pinning all of it takes longer than the copy then saves.",
  references = { "cuda-best-practices/overlap", "cuda-runtime/sync-behavior", "pytorch/pinned-memory" },

  detect = function(f, t, e)
    local looped = (f.steps.count or 0) > 0
    local pageable = f.copy.blocking.pageable_share
    local once = f.window.supports_verdict == false and pageable and not at_most(pageable, t.max_pageable)
    e.reason = looped and "loop" or once and "once" or "pass"
    e.memory = ""   -- not every profiler records what memory it is
    if pageable then
      local part = (pageable == 0 or pageable == 1) and "" or at_most(pageable, t.max_pageable) and "partly " or "mostly "
      e.memory = ", " .. part .. "from or to " .. (pageable > 0 and "pageable" or "pinned") .. " memory"
    end
    return e
  end,

  -- What is copied once is pinned for one copy, and pinning takes as long as the driver's staging or longer.
  saving = function(f, t, e)
    local pageable = f.copy.blocking.pageable_share
    if f.window.supports_verdict == false and pageable and not at_most(pageable, t.max_pageable) then return nil end
    return { claims = f.copy.blocking.lost, remedy = f.copy.blocking.remedy, confidence = 0.8,
             basis = "copies are asynchronous and from pinned memory, uploads in a loop run on a separate stream, and the host is free meanwhile" }
  end,

  tests = {
    { name = "a quarter of the run waits for cudaMemcpy",
      edges = { ["copy.blocking.count"] = 3, ["copy.blocking.lost"] = 5e6 },
      facts = { window = { device_time = 1e9 },
                copy = { blocking = { count = 15, bytes = 4e9, per_step = 3, pageable_share = 1, lost = 2.5e8,
                                      remedy = true } } },
      expect = { share = 0.25, count = 15, bytes = 4e9, per_step = 3,
                 memory = ", from or to pageable memory" },
      saving = { claims = 2.5e8, confidence = 0.8 } },
    { name = "a program that copies its arrays once: pinning them would win nothing",
      edges = { ["copy.blocking.pageable_share"] = 0.5 },
      facts = { window = { device_time = 1e9, supports_verdict = false },
                copy = { blocking = { count = 6, bytes = 3e8, per_step = 0, pageable_share = 0.9, lost = 9e8, remedy = true } } },
      expect = { share = 0.9, reason = "once", memory = ", mostly from or to pageable memory" } },
    { name = "a program that copies pinned arrays once",
      facts = { window = { device_time = 1e9, supports_verdict = false },
                copy = { blocking = { count = 6, bytes = 3e8, per_step = 0, pageable_share = 0.3, lost = 9e8, remedy = true } } },
      expect = { share = 0.9, reason = "pass" },
      saving = { claims = 9e8, confidence = 0.8 } },
    { name = "some of the memory is pinned",
      facts = { window = { device_time = 1e9 },
                copy = { blocking = { count = 15, bytes = 4e9, per_step = 3, pageable_share = 0.304, lost = 2.5e8,
                                      remedy = true } } },
      expect = { memory = ", partly from or to pageable memory" } },
    { name = "all of the memory is pinned",
      facts = { window = { device_time = 1e9 },
                copy = { blocking = { count = 15, bytes = 4e9, per_step = 3, pageable_share = 0, lost = 2.5e8,
                                      remedy = true } } },
      expect = { memory = ", from or to pinned memory" } },
    { name = "a profiler that does not record the kind of memory",
      facts = { window = { device_time = 1e9 },
                copy = { blocking = { count = 15, bytes = 4e9, per_step = 3, lost = 2.5e8, remedy = true } } },
      expect = { memory = "", reason = "pass" },
      saving = { claims = 2.5e8 } },
    { name = "near miss: short copies that cost little",
      facts = { window = { device_time = 1e9 },
                copy = { blocking = { count = 15, bytes = 4e6, per_step = 3, pageable_share = 0, lost = 4e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the result is fetched once",
      facts = { window = { device_time = 1e9 },
                copy = { blocking = { count = 1, bytes = 4e9, per_step = 0, pageable_share = 1, lost = 2e8, remedy = true } } },
      expect = "silent" },
    { name = "no synchronous copies", facts = { window = { device_time = 1e9 }, copy = { blocking = { count = 0 } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
