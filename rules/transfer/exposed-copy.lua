-- The device copies and computes nothing meanwhile. Why that is so is for other rules to say (pageable memory, blocking
-- calls, data that need not move). What none of them explains: pinned asynchronous copies that queue up on the stream
-- of the kernels, where nothing can run beside them; and those on a separate stream that begin too late, so that
-- kernels wait for them.
-- What a pass uploads, what a loop downloads, or what it uploads: another buffer helps each.
local function reason_of(f, rows, late)
  if f.window.supports_verdict == false and not late then return "pass" end
  if rows[1] and rows[1].direction == "device to host" then return "results" end
  return late and "late" or "loop"
end

local function lost_share(f, loss) return loss.lost and share(loss.lost.time, f.window.device_time) or 0 end

local fewer = "Bring fewer results to the host: reduce them on the GPU, or copy them every few iterations"

return {
  id        = "transfer/exposed-copy",
  title     = "Overlap copies with kernels",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "code",
  priority  = 30,
  knowledge = { "K-B4", "K-H9" },

  needs      = { "window.device_time", "copy.count", "copy.exposed", "copy.groups" },
  optional   = { "budget.compute", "run.devices", "copy.serial.lost", "copy.serial.remedy", "copy.separate.lost", "copy.separate.remedy", "launch.waiting.share", "window.supports_verdict", "calls.host_register.lost" },
  thresholds = { "min_share", "min_serial", "min_separate", "max_waiting" },

  symptom = "For {share:pct} of the time, copies run without overlapping any kernel{where_text:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason  = "loop", action = "Copy the next batch on a separate stream while the GPU computes",
      snippet = [[side = torch.cuda.Stream()
with torch.cuda.stream(side):
    following = following_host.to(device, non_blocking=True)   # pinned
process(batch)
torch.cuda.current_stream().wait_stream(side)
following.record_stream(torch.cuda.current_stream())]],
      language = "python", ["for"] = { "pytorch" } },
    { reason  = "loop", action = "Copy the next piece from pinned memory on a separate stream while the GPU computes",
      snippet = [[copy_stream = cupy.cuda.Stream(non_blocking=True)
following.set(pinned, stream=copy_stream)       # pinned: from cupyx.empty_pinned()
process(x)
cupy.cuda.get_current_stream().wait_event(copy_stream.record())]],
      language = "python", ["for"] = { "cupy" } },
    { reason = "late", action = "Begin each copy earlier: fill three or more device buffers in turn, so that a copy never waits for the buffer that kernels read" },
    { reason = "late", action = "Where the data does not change, upload it once, before the loop" },
    { reason = "pass", action = "Upload what the first kernels need first, and the rest from pinned memory on a separate stream while they run" },
    { reason = "results", action = "{fewer_first:text}" },
    { reason = "results", action = "Copy results to the host on a separate queue, and wait for them where the host reads them, while the next iteration computes",
      snippet = [[#pragma acc update host(snapshot[0:n]) async(2) wait(1)   // snapshot: a copy that kernels leave alone; Fortran: !$acc
#pragma acc parallel loop async(1)
for (int i = 0; i < n; ++i) advance(state, i);
#pragma acc wait(2)                                      // before the host reads it]],
      language = "cpp", ["for"] = { "openacc", "openmp", "fortran" } },
    { reason = "results", action = "Copy results to the host on a separate stream from a snapshot on the GPU, and wait for them where the host reads them",
      snippet = [[cudaMemcpyAsync(snapshot, field, bytes, cudaMemcpyDeviceToDevice, stream);
cudaEventRecord(ready, stream);
cudaStreamWaitEvent(copy_stream, ready, 0);
cudaMemcpyAsync(host, snapshot, bytes, cudaMemcpyDeviceToHost, copy_stream);   // host: pinned]],
      language = "cpp", ["for"] = { "c++" } },
    { reason = "results", action = "Copy results to pinned memory with non_blocking=True on a separate stream, and read them one step later",
      snippet = [[copy_stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(copy_stream):
    pinned.copy_(results, non_blocking=True)
    results.record_stream(copy_stream)]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "results", action = "{fewer_last:text}" },
    { reason = "loop", action = "Use two or three device buffers in turn, so that a copy never waits for the buffer that kernels read" },
    { reason = "loop", action = "Where the data does not change, upload it once, before the loop" },
    { action = "Send less: keep data on the GPU, or send it in the small type in which it is stored and convert it there" },
  },
  false_positives = "With little compute, there are no kernels for the copies to overlap with. Where the host is busy throughout the step, the step stays as long as it is.",
  references = { "cuda-best-practices/overlap", "pytorch/pinned-memory" },

  applies = function(f, t)
    if at_least(f.launch.waiting.share or 0, t.max_waiting) then
      return false, "the host waits for each kernel, so no copy can overlap with one"
    end
    return f.copy.count > 0, "there are no copies"
  end,

  detect = function(f, t)
    local exposed = share(f.copy.exposed.time, f.window.device_time)
    if not at_least(exposed, t.min_share) then return nil end
    -- Memory that is pinned for each copy has to stay pinned until the copy is done: nothing overlaps before that has an end.
    local pinning = f.calls.host_register.lost and f.calls.host_register.lost.time or 0
    if pinning > f.copy.exposed.time then return nil end
    local serial = lost_share(f, f.copy.serial)
    local separate = lost_share(f, f.copy.separate)
    local late = separate > serial and at_least(separate, t.min_separate)
    local rows = top(f.copy.groups, "exposed", 3)
    -- Beside the kernels there is no room for copies that take longer.
    local too_many = f.copy.exposed.time > (f.budget.compute or f.copy.exposed.time) * (f.run.devices or 1)
    return { share = exposed, serial = serial, separate = separate, reason = reason_of(f, rows, late), rows = rows,
             fewer_first = too_many and fewer or "", fewer_last = too_many and "" or fewer,
             where_text = late and ". They are on a separate stream, but kernels wait for them" or
                          at_least(serial, t.min_serial) and ". Many of them are on the same stream as the kernels" or "",
             why = late and "The copies begin too late, or take too long, to end before the kernels need them." or
                   "Only work on different streams overlaps: the GPU can copy and compute at once." }
  end,

  saving = function(f, t, e)
    if e.separate > e.serial and at_least(e.separate, t.min_separate) and f.copy.separate.remedy ~= nil then
      return { claims = f.copy.separate.lost, remedy = f.copy.separate.remedy, confidence = 0.4,
               basis = "kernels no longer wait for these copies" }
    end
    if f.copy.serial.lost == nil or f.copy.serial.remedy == nil or e.serial == 0 then return nil end
    return { claims = f.copy.serial.lost, remedy = f.copy.serial.remedy, confidence = 0.5,
             basis = "pinned copies run on a separate stream, as far as there are kernels to overlap with" }
  end,

  tests = {
    { name = "pinned copies in line with the kernels",
      edges = { ["copy.exposed"] = 3e7, ["copy.serial.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 },
                copy = { count = 40, exposed = 4e8, serial = { lost = 3.5e8, remedy = true },
                         groups = { { direction = "host to device", memory = "pinned", exposed = 3e8 },
                                    { direction = "device to host", memory = "pinned", exposed = 1e8 } } } },
      expect = { share = 0.4, serial = 0.35, reason = "loop", rows = { { direction = "host to device" }, { direction = "device to host" } },
                 where_text = ". Many of them are on the same stream as the kernels" },
      saving = { claims = 3.5e8, confidence = 0.5 } },
    { name = "most of them bring results to the host",
      facts = { window = { device_time = 1e9 },
                copy = { count = 40, exposed = 4e8, serial = { lost = 3.5e8, remedy = true },
                         groups = { { direction = "host to device", memory = "pinned", exposed = 1e8 },
                                    { direction = "device to host", memory = "pinned", exposed = 3e8 } } } },
      expect = { reason = "results", fewer_first = "" } },
    { name = "they take longer than all computing: overlapping is not enough",
      facts = { window = { device_time = 1e9 }, budget = { compute = 2e8 },
                copy = { count = 40, exposed = 7e8, serial = { lost = 6e8, remedy = true },
                         groups = { { direction = "device to host", memory = "pinned", exposed = 7e8 } } } },
      expect = { reason = "results", fewer_last = "" } },
    { name = "one pass: there is no next batch",
      facts = { window = { device_time = 1e9, supports_verdict = false },
                copy = { count = 48, exposed = 5e8, serial = { lost = 3e8, remedy = true }, groups = {} } },
      expect = { share = 0.5, reason = "pass" }, saving = { claims = 3e8 } },
    { name = "on a separate stream, and still too late for the kernels",
      edges = { ["copy.separate.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, budget = { compute = 9e8 },
                copy = { count = 400, exposed = 9e7, serial = { lost = 0, remedy = true }, separate = { lost = 8e7, remedy = true },
                         groups = { { direction = "host to device", memory = "pinned", exposed = 9e7 } } } },
      expect = { reason = "late", where_text = ". They are on a separate stream, but kernels wait for them" },
      saving = { claims = 8e7, confidence = 0.4 } },
    { name = "a little on a separate stream",
      facts = { window = { device_time = 1e9 },
                copy = { count = 400, exposed = 9e7, serial = { lost = 6e7, remedy = true }, separate = { lost = 3e7, remedy = true },
                         groups = { { direction = "host to device", memory = "pinned", exposed = 9e7 } } } },
      expect = { reason = "loop" }, saving = { claims = 6e7 } },
    { name = "exposed, but not because of the stream",
      facts = { window = { device_time = 1e9 },
                copy = { count = 40, exposed = 1e8, serial = { lost = 0, remedy = true },
                         groups = { { direction = "host to device", memory = "pageable", exposed = 1e8 } } } },
      expect = { share = 0.1, serial = 0, where_text = "" } },
    { name = "near miss: memory is pinned for each copy, which takes longer than the copies",
      facts = { window = { device_time = 1e9 }, calls = { host_register = { lost = 3e8 } },
                copy = { count = 40, exposed = 1e8, serial = { lost = 1e8, remedy = true },
                         groups = { { direction = "host to device", memory = "pinned", exposed = 1e8 } } } },
      expect = "silent" },
    { name = "some memory is pinned in the loop, too",
      facts = { window = { device_time = 1e9 }, calls = { host_register = { lost = 3e7 } },
                copy = { count = 40, exposed = 1e8, serial = { lost = 1e8, remedy = true },
                         groups = { { direction = "host to device", memory = "pinned", exposed = 1e8 } } } },
      expect = { share = 0.1 } },
    { name = "near miss: copies behind kernels",
      facts = { window = { device_time = 1e9 },
                copy = { count = 40, exposed = 2.2e7, serial = { lost = 2.2e7, remedy = true },
                         groups = { { direction = "host to device", memory = "pinned", exposed = 2.2e7 } } } },
      expect = "silent" },
    { name = "the host waits for some of the kernels",
      facts = { window = { device_time = 1e9 }, launch = { waiting = { share = 0.4 } },
                copy = { count = 40, exposed = 4e8, serial = { lost = 3.5e8, remedy = true }, groups = {} } },
      expect = { share = 0.4 }, saving = { claims = 3.5e8 } },
    { name = "the host waits for each kernel before it queues a copy",
      edges = { ["launch.waiting.share"] = 0.5 },
      facts = { window = { device_time = 1e9 }, launch = { waiting = { share = 0.6 } },
                copy = { count = 40, exposed = 4e8, serial = { lost = 3.5e8, remedy = true }, groups = {} } },
      expect = "not_applicable" },
    { name = "no copies", facts = { window = { device_time = 1e9 }, copy = { count = 0, exposed = 0, groups = {} } },
      expect = "not_applicable" },
    { name = "GPU work was not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
