-- The loop calls cudaDeviceSynchronize, or waits for a stream or an event, and the GPU runs dry after it: nothing is
-- queued when the wait ends. A wait at the end of a full queue costs little and is not meant here; what counts is the
-- idle time until the host is ahead again, and what copies and messages cost that follow too late. The replay prices both.
return {
  id        = "sync/device-sync-in-loop",
  title     = "Remove synchronization calls from the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  topic     = "waits",
  effort    = "code",
  priority  = 68,
  explains  = { "sync/host-busy-wait", "host/cpu-bound", "transfer/exposed-copy" },
  knowledge = { "K-H12", "K-O3" },

  loss           = "sync.loop",
  evidence       = { "count", "per_step", call = "name" },
  optional       = { "run.languages", "sync.loop.code", "sync.loop.free_code", "sync.loop.with_code", "sync.loop.directive", "window.supports_verdict",
                     "run.kind", "startup.time" },
  thresholds     = { "min_own_share", "mostly_with_code", "min_share", "min_per_step", "min_count_of_pass", "max_start_up" },

  symptom = "The host waits for the GPU {per_step:num} times {per:text}, mostly in {call:text}{directive:text}. After these waits, the GPU computes nothing for {share:pct} of the time.{late:text}{free:text}",
  cause   = "While the host waits, it launches nothing, so the GPU has no work when the wait ends.",
  fixes   = {
    { action  = "Remove the call; operations on one stream run in order without it",
      snippet = "# torch.cuda.synchronize()      only around what is being timed", language = "python", ["for"] = { "pytorch" } },
    { action  = "Remove the call; operations on one stream run in order without it",
      snippet = "# cupy.cuda.Device().synchronize()      only around what is being timed", language = "python", ["for"] = { "cupy" } },
    { action  = "Remove the call; operations on one stream run in order without it",
      snippet = "# cuda.synchronize()      only around what is being timed", language = "python", ["for"] = { "numba" } },
    { action  = "Queue regions with async (OpenACC) or nowait (OpenMP), and wait once at the end of the step",
      snippet = [[#pragma acc parallel loop present(a) async(1)     // Fortran: !$acc parallel loop present(a) async(1)
for (int i = 0; i < n; ++i) advance(a, i);
#pragma acc wait(1)                               // once, where the host needs the results]],
      language = "cpp", ["for"] = { "openacc", "openmp" } },
    { action  = "Remove the fence; kernels of one execution space instance run in order without it",
      snippet = "// Kokkos::fence();      only where the host reads what kernels have written", language = "cpp", ["for"] = { "kokkos" } },
    { reason  = "!directive", action  = "Remove the call, since operations on one stream run in order; order several streams on the GPU instead of on the host",
      snippet = [[cudaEventRecord(ready, producer);
cudaStreamWaitEvent(consumer, ready, 0);      // the host goes on at once]],
      language = "cpp", ["for"] = { "c++" } },
    { reason  = "reads", action  = "If the host reads a result after the wait, record an event after each result, and wait for it only where the result is read: one step later, while the GPU computes the next one",
      ["for"] = { "c++", "fortran" } },
    { action  = "If the call is there for timing, time with events and read them later: the host's clock without a synchronization measures launches, not work",
      snippet = [[start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record(); step(batch); end.record()
# some steps later, once: end.synchronize(); start.elapsed_time(end)]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Leave block_until_ready() out of the loop: JAX orders work by the data that it needs", ["for"] = { "jax" } },
  },
  false_positives = "Benchmarks that time each step on purpose. Results that kernels write straight to memory of the host. Results that the host needs before it can continue: where the content of the next upload depends on them, that upload cannot be sent earlier.",
  references = { "cuda-runtime/sync-behavior", "cuda-best-practices/timing", "cuda-programming/streams" },

  applies = function(f, t)
    if f.window.supports_verdict == false then
      -- A script without a loop that waits after each kernel does so out of habit.
      if f.run.kind == "kernels" or f.run.kind == "start-up" or not at_least(f.sync.loop.count, t.min_count_of_pass) then
        return false, "too little of a loop was recorded: a start, a single pass or a few steps"
      end
      if f.startup.time and at_least(share(f.startup.time, f.window.device_time), t.max_start_up) then
        return false, "the only pass loads code or allocates memory, as first passes do"
      end
    end
    return f.sync.loop.count > 0, "no call that synchronizes with the GPU was recorded in the loop; copies that wait are judged apart"
  end,

  -- A program in C++ or Fortran waits because the code that follows reads the results: that code is what costs. Where few
  -- of the waits are followed by such code, or nothing came home that it could read, waiting is a habit, and the code would
  -- run beside the GPU without it.
  detect = function(f, t, e)
    local python = not f.run.languages or contains(f.run.languages, "Python")
    local reads = f.sync.loop.code and 2 * f.sync.loop.code > f.sync.loop.lost.time
      and not at_most(f.sync.loop.with_code or 1, t.mostly_with_code)
    if not python and reads then return nil end
    e.directive = f.sync.loop.directive and " of the " .. f.sync.loop.directive or ""
    local free = f.sync.loop.free_code and 2 * f.sync.loop.free_code > f.sync.loop.lost.time
    -- MPI may send from memory of the GPU, and looks like code where its calls were not recorded.
    if free and contains(f.run.languages or "", "MPI") then return nil end
    e.reason = f.sync.loop.directive and "directive" or free and "free" or "reads"
    e.late = at_least(e.share, t.min_own_share) and ""
      or " Copies and messages that follow start too late to overlap."
    e.free = free and " The host then runs code that needs no result: nothing was copied to it before." or ""
    return e
  end,

  saving = { confidence = 0.8, basis = "the host does not wait and stays ahead of the GPU" },

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false }, run = { kind = "start-up" } }, expect = "not_applicable" },
    { name = "a wait after each layer",
      edges = { ["sync.loop.lost"] = 1e5, ["sync.loop.per_step"] = 1 },
      facts = { window = { device_time = 1e9 },
                sync = { loop = { count = 320, per_step = 16, name = "cudaDeviceSynchronize", lost = 9e7, remedy = true } } },
      expect = { share = 0.09, count = 320, per_step = 16, call = "cudaDeviceSynchronize" },
      saving = { claims = 9e7, confidence = 0.8 } },
    { name = "near miss: the CPU computes a part of the physics after each wait",
      facts = { window = { device_time = 1e9 }, run = { languages = "OpenACC, Fortran" },
                sync = { loop = { count = 320, per_step = 16, name = "cuStreamSynchronize", code = 4e8, lost = 4.5e8, remedy = true } } },
      expect = "silent" },
    { name = "Python waits after each layer and goes on with code of its own, which needs no result",
      facts = { window = { device_time = 1e9 }, run = { languages = "Python, PyTorch" },
                sync = { loop = { count = 143, per_step = 11, name = "cudaDeviceSynchronize", code = 2.7e8, with_code = 1, lost = 2.8e8,
                                  remedy = true } } },
      expect = { share = 0.28, reason = "reads" } },
    { name = "near miss: the code after each wait may be MPI that sends from the GPU",
      facts = { window = { device_time = 1e9 }, run = { languages = "MPI, C++" },
                sync = { loop = { count = 320, per_step = 16, name = "cudaStreamSynchronize", code = 2e7, free_code = 4e8, lost = 4.5e8,
                                  remedy = true } } },
      expect = "silent" },
    { name = "the code after each wait can read nothing, since nothing was copied to the host",
      facts = { window = { device_time = 1e9 }, run = { languages = "C++" },
                sync = { loop = { count = 320, per_step = 16, name = "cudaStreamSynchronize", code = 2e7, free_code = 4e8, lost = 4.5e8,
                                  remedy = true } } },
      expect = { share = 0.45, reason = "free", free = " The host then runs code that needs no result: nothing was copied to it before." } },
    { name = "a wait after each kernel, and long code after the last one of each step",
      edges = { ["sync.loop.with_code"] = 0.5 },
      facts = { window = { device_time = 1e9 }, run = { languages = "CUDA C++" },
                sync = { loop = { count = 696, per_step = 6, name = "cudaDeviceSynchronize", code = 3.5e8, with_code = 0.17,
                                  lost = 5.3e8, remedy = true } } },
      expect = { share = 0.53, per_step = 6, directive = "" } },
    { name = "a script without a loop waits after each kernel",
      edges = { ["sync.loop.count"] = 50, ["startup.time"] = 5e7 },
      facts = { window = { device_time = 1e9, supports_verdict = false }, run = { kind = "one-pass" }, startup = { time = 0 },
                sync = { loop = { count = 130, per_step = 130, name = "cudaDeviceSynchronize", lost = 9e7, remedy = true } } },
      expect = { share = 0.09, count = 130 } },
    { name = "a first pass waits, and loads its code",
      facts = { window = { device_time = 1e9, supports_verdict = false }, run = { kind = "one-pass" }, startup = { time = 1e8 },
                sync = { loop = { count = 130, per_step = 130, name = "cudaDeviceSynchronize", lost = 9e7, remedy = true } } },
      expect = "not_applicable" },
    { name = "a wait after each loop under a directive",
      facts = { window = { device_time = 1e9 }, run = { languages = "OpenACC" },
                sync = { loop = { count = 696, per_step = 24, name = "cuStreamSynchronize", lost = 1.5e8, remedy = true,
                                  directive = "OpenACC wait at flow.f90:50" } } },
      expect = { share = 0.15, reason = "directive", directive = " of the OpenACC wait at flow.f90:50" } },
    { name = "a solver waits for its kernels before it exchanges the edges",
      edges = { ["sync.loop.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 },
                sync = { loop = { count = 124, per_step = 4, name = "cudaDeviceSynchronize", lost = 8e6, remedy = true } } },
      expect = { share = 0.008, late = " Copies and messages that follow start too late to overlap." } },
    { name = "near miss: a wait at the end of each step, for a full queue",
      facts = { window = { device_time = 1e9 },
                sync = { loop = { count = 20, per_step = 1, name = "cudaStreamSynchronize", lost = 8e4, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 },
                sync = { loop = { count = 2, per_step = 0, name = "cudaDeviceSynchronize", lost = 3e7, remedy = true } } },
      expect = "silent" },
    { name = "no such calls", facts = { window = { device_time = 1e9 }, sync = { loop = { count = 0 } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
