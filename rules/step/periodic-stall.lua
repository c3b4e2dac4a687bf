-- Every N-th step is slow: a checkpoint, logging, evaluation, garbage collection. The regular distance tells it from
-- chance, and what fills the excess names it. Only idle time counts: evaluation that keeps the GPU busy is work.
-- What the slow steps hold that others do not, as the reason of the fixes: copies and writes of a checkpoint, few bytes
-- of a log, work of an evaluation. Where nothing at all is recorded but host code, garbage is collected, or Python works.
-- What takes data from the GPU and sends some back computes with it: it is no output.
local function reason_of(what, bytes, uploads, large, work, much)
  if what == "evaluation" or at_least(work, much) then return "evaluation" end
  if at_least(bytes, large) and at_least(uploads, large) then return "back" end
  if what == "waiting for a child process" then return "child" end
  if what == "reading files" then return "read" end
  if what == "checkpoint" or at_least(bytes, large) then return "checkpoint" end
  if what == "logging" or (bytes > 0 and what ~= "file calls") then return "logging" end
  if what == "file calls" then return "write" end
  if what == "compiling or loading code" or what == "memory allocation" then return "shapes" end
  if uploads > 0 and bytes == 0 and (what == "host code" or contains(what, "copies that")) then return "upload" end
  return what == "host code" and "collector" or "other"
end

-- Whether most of what these steps lose goes into capturing and building graphs, as for each new shape of an input.
local function builds_graphs(f, t)
  local capture, build = f.calls.graph_capture.lost, f.calls.graph_build.lost
  local time = (capture and capture.time or 0) + (build and build.time or 0)
  return time > 0 and at_least(share(time, f.steps.stall.lost.time), t.of_graphs)
end

local WHY = {
  upload = "In these steps, the launching thread sends the GPU data that other steps do not get, such as the next part of the input.",
  read  = "In these steps, the launching thread reads files, such as the next part of the data, and the loop stops until they are read.",
  back  = "In these steps, the launching thread takes data from the GPU, computes with it and sends the result back, such as a new mesh or a new list of neighbors.",
  graphs = "In these steps, the program captures its graphs again, as torch.compile does for each new shape of an input.",
  child = "In these steps, the launching thread starts another program, and waits until it ends.",
}

-- In a program of which no more is known, what stops the loop may be its output.
local function copy_out(reason)
  return { reason = reason, action = "Copy the output to pinned memory on a separate stream, and let another thread write it",
      snippet = [[cudaEventRecord(ready, stream);
cudaStreamWaitEvent(copy_stream, ready, 0);
cudaMemcpyAsync(host, field, bytes, cudaMemcpyDeviceToHost, copy_stream);   // host: pinned
cudaEventRecord(copied, copy_stream);      // the writer waits for it, and the loop before it changes field]],
      language = "cpp", ["for"] = { "c++" } }
end

-- 2nd, 3rd, 5th, 21st
local endings = { "st", "nd", "rd" }
local teens = { [11] = "th", [12] = "th", [13] = "th" }

local function ordinal(n) return n .. (teens[n % 100] or endings[n % 10] or "th") end

return {
  id        = "step/periodic-stall",
  title     = "Move the work that stops the loop at regular intervals off the launching thread",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 78,
  explains  = { "step/outlier", "step/jitter", "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-C6" },

  needs      = { "window.device_time", "steps.count", "steps.median" },
  optional   = { "steps.stall.every", "steps.stall.excess", "steps.stall.what", "steps.stall.lost", "steps.stall.remedy",
                 "steps.stall.bytes", "steps.stall.upload_bytes", "steps.stall.gpu_share", "steps.stall.may_wait", "steps.stall.of_pieces", "host.os_wait.per_step",
                 "serving.no_request.lost", "calls.graph_capture.lost", "calls.graph_build.lost", "host.lock.count" },
  thresholds = { "lock_waits", "min_share", "min_times", "of_graphs", "checkpoint_bytes", "evaluation_share", "waits_between", "idle" },

  symptom = "Every {nth:text} step takes longer, and the GPU computes nothing in {part:text}the extra time: {share:pct} of the time in all.{what_text:text}",
  cause   = "{why:text}",
  fixes   = {
    { reason = "back", action = "Compute on the GPU what the host computes here: the data is already there, and even a slow kernel saves both copies" },
    { reason = "back", action = "If the loop can go on with the old values for a while, let another thread compute the new ones meanwhile" },
    { reason = "read", action = "Read ahead: let another thread read the next file while the GPU works on what was read before" },
    { reason = "upload", action = "Send this data ahead of time, while the GPU works on what it has: from pinned memory, on a separate stream" },
    { reason = "upload", action = "Pack many small uploads into one" },
    { reason = "child", action = "If something else can go on meanwhile, let another thread wait for the program, and work on other requests or data" },
    { reason = "child", action = "Call a library, or a process that keeps running, instead of starting a program each time" },
    { reason = "checkpoint", action = "Save checkpoints in the background",
      snippet = [[future = torch.distributed.checkpoint.async_save(state, checkpoint_id=path)   # waits for the copy only
# or: copy to pinned host memory, and let a thread write the file]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "write", action = "Write files from another thread, from a copy in host memory",
      snippet = [[from concurrent.futures import ThreadPoolExecutor
writer = ThreadPoolExecutor(max_workers=1)        # once, before the loop
pending = writer.submit(write, values.detach().to("cpu", copy=True), path)
# later, before the next write and at the end: pending.result()]],
      language = "python", ["for"] = { "pytorch" } },
    copy_out("checkpoint"), copy_out("write"), copy_out("logging"), copy_out("collector"), copy_out("other"),
    { reason = "checkpoint", action = "Copy the output on a separate queue, and let another thread write it",
      snippet = [[#pragma acc update self(field[0:n]) async(2)     // Fortran: !$acc update self(field) async(2)
// the loop goes on with async(1); before it changes field, and before the writer reads it:
#pragma acc wait(2)]],
      language = "cpp", ["for"] = { "openacc" } },
    { reason = "evaluation", action = "If these steps evaluate the model, load that data in worker processes, and keep results on the GPU until the end",
      snippet = [[with torch.inference_mode():
    for x, y in eval_loader:
        correct += (model(x).argmax(-1) == y).sum()     # a tensor: no .item() here]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "logging", action = "Log without waiting for the GPU: copy the value to pinned memory, and read it some steps later",
      snippet = [[if step % 100 == 0:
    pinned.copy_(loss.detach(), non_blocking=True); copied.record()   # once: torch.empty((), pin_memory=True), torch.cuda.Event()
elif step % 100 == 10:
    copied.synchronize(); log(pinned.item())      # done long ago: the host does not wait]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "evaluation", action = "If shapes change in these steps, pad them to a few sizes: libraries try their kernels again for each shape",
      snippet = "torch.backends.cudnn.benchmark = False      # if shapes must change", language = "python", ["for"] = { "pytorch" } },
    { reason = "shapes", action = "Keep shapes fixed, so that no code is compiled and no memory allocated for new ones: pad to a few sizes",
      ["for"] = { "python" } },
    { reason = "graphs", action = "Keep shapes fixed, so that a graph fits each input: pad to a few sizes, and run each of them once before the loop" },
    { reason = "graphs", action = "If shapes must change, compile without graphs",
      snippet = 'model = torch.compile(model, mode="default")     # instead of mode="reduce-overhead"', language = "python", ["for"] = { "pytorch" } },
    { reason = "collector", action = "In a server, move work on requests, such as tokenizing, to another process than the one that launches",
      ["for"] = { "inference" } },
    { reason = "collector", action = "Sample the CPU to see what the launching thread runs meanwhile",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree --python-sampling=true -o cpu -- COMMAND",
      language = "bash", ["for"] = { "python", "nvidia" } },
    { reason = "collector", action = "Where Python's garbage collector is the cause, run it rarely and at times that you choose",
      snippet = [[gc.collect(); gc.freeze(); gc.disable()            # after warm-up; then gc.collect() every 1000 steps]],
      language = "python", ["for"] = { "python" } },
    { action = "Do this work less often" },
  },
  false_positives = "In a short capture, two slow steps may be equally far apart by chance.",
  references = { "pytorch/tuning-guide", "pytorch/profiler" },

  applies = function(f, t)
    if f.steps.stall.may_wait then
      return false, "the slow steps may wait for requests, which only a capture of OS calls of all threads can tell"
    end
    local what = f.steps.stall.what
    if what == "sleeping" then
      return false, "the launching thread sleeps in these steps (host/sleeping)"
    end
    -- A few of them are stops like any other.
    if what == "waiting for locks" and at_least(f.host.lock.count or 0, t.lock_waits) then
      return false, "the launching thread waits for locks in these steps (host/lock-contention)"
    end
    if f.steps.stall.of_pieces and what == "host code" then
      return false, "each iteration that was found is one kernel, so that the host may do this in each iteration of a loop around them"
    end
    local none = f.serving.no_request.lost
    if none and f.steps.stall.lost and f.steps.stall.what == "waiting in the OS" and 2 * none.time > f.steps.stall.lost.time then
      return false, "the server waits for requests"
    end
    return f.steps.count > 0 and f.steps.stall.every ~= nil and f.steps.stall.lost ~= nil,
      "slow steps do not come at a regular distance"
  end,

  detect = function(f, t)
    local lost = share(f.steps.stall.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(share(f.steps.count, f.steps.stall.every), t.min_times) then return nil end
    local what = f.steps.stall.what
    -- Batches that come in bursts, once a round of the workers: the rules of input/ speak of it.
    if what == "data loading" then return nil end
    -- The steps between wait for another thread as well, only not as long: that thread is slow (host/blocked).
    local waits = f.host.os_wait.per_step
    if what == "waiting in the OS" and waits and at_least(waits * f.steps.stall.every, t.waits_between) then return nil end
    -- Who waits nearly all of the time is not stopped, but has nothing to do: a notebook, or a server, between requests.
    if what == "waiting in the OS" and at_least(lost, t.idle) then return nil end
    local work = f.steps.stall.gpu_share or 0
    local reason = reason_of(what, f.steps.stall.bytes or 0, f.steps.stall.upload_bytes or 0, t.checkpoint_bytes, work, t.evaluation_share)
    if reason ~= "evaluation" and builds_graphs(f, t) then reason = "graphs" end
    local works = at_least(work, t.evaluation_share)
    local goes = works and " There, the time goes to " or " The extra time goes to "
    return { share = lost, every = f.steps.stall.every, nth = ordinal(math.floor(f.steps.stall.every)), reason = reason,
             excess = f.steps.stall.excess, median = f.steps.median, steps = f.steps.count, part = works and "part of " or "",
             why = WHY[reason] or "The loop stops while the launching thread does something else, such as saving, logging or evaluation.",
             what_text = what and what ~= "" and goes .. (what == "checkpoint" and "checkpoints" or what) .. "." or "" }
  end,

  saving = function(f, t, e)
    -- What another program takes is its own; whether anything can go on meanwhile is not known.
    local child = e.reason == "child"
    return { claims = f.steps.stall.lost, remedy = f.steps.stall.remedy, confidence = child and 0.35 or 0.75,
             basis = child and "something else goes on while the other program runs" or "the host work of these steps overlaps with the loop" }
  end,

  tests = {
    { name = "a checkpoint every five steps",
      edges = { ["steps.count"] = 10, ["steps.stall.lost"] = 4e7 },
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 5, excess = 1.6e9, what = "checkpoint", lost = 1.5e9,
                                                              remedy = true } } },
      expect = { share = 0.375, every = 5, nth = "5th", reason = "checkpoint", excess = 1.6e9, median = 1e8, steps = 20,
                 what_text = " The extra time goes to checkpoints." },
      saving = { claims = 1.5e9, confidence = 0.75 } },
    { name = "the host makes a new list of neighbors of the positions that it takes from the GPU",
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 5, excess = 1.6e9, what = "host code", bytes = 6e6, upload_bytes = 2e7, lost = 1.5e9,
                                                              remedy = true } } },
      expect = { reason = "back" } },
    { name = "the next part of the input goes up in many small copies",
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 5, excess = 1.6e9, what = "host code", bytes = 0, upload_bytes = 2e3, lost = 1.5e9,
                                                              remedy = true } } },
      expect = { reason = "upload" } },
    { name = "graphs are captured anew for each new shape",
      edges = { ["calls.graph_capture.lost"] = 4e8 },
      facts = { window = { device_time = 4e9 }, calls = { graph_capture = { lost = 6e8 }, graph_build = { lost = 2e8 } },
                steps = { count = 20, median = 1e8, stall = { every = 5, excess = 1.6e9, what = "host code", lost = 1.5e9,
                                                              remedy = true } } },
      expect = { reason = "graphs" } },
    { name = "near miss: a result, and a few parameters that go back",
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 5, excess = 1.6e9, what = "host code", bytes = 6e6, upload_bytes = 2e3, lost = 1.5e9,
                                                              remedy = true } } },
      expect = { reason = "checkpoint" } },
    { name = "a wait in the operating system for most of the time",
      facts = { window = { device_time = 4e9 },
                steps = { count = 60, median = 1e6, stall = { every = 20, excess = 3.5e9, what = "waiting in the OS", lost = 3.5e9, bytes = 4, remedy = true } } },
      expect = { share = 0.875 } },
    { name = "near miss: a notebook, whose thread waits nearly all of the time for the next cell",
      facts = { window = { device_time = 4e9 },
                steps = { count = 60, median = 1e6, stall = { every = 20, excess = 3.7e9, what = "waiting in the OS", lost = 3.7e9, bytes = 4, remedy = true } } },
      expect = "silent" },
    { name = "a few bytes are copied and written: a log",
      edges = { ["steps.stall.bytes"] = 1e6 },
      facts = { window = { device_time = 4e9 },
                steps = { count = 60, median = 1e8, stall = { every = 22, excess = 1.6e9, what = "host code", lost = 1.5e9, bytes = 4,
                                                              remedy = true } } },
      expect = { nth = "22nd", reason = "logging" } },
    { name = "host code, and nothing is copied: a garbage collector",
      facts = { window = { device_time = 4e9 },
                steps = { count = 60, median = 1e8, stall = { every = 11, excess = 1.6e9, what = "host code", lost = 1.5e9, bytes = 0,
                                                              remedy = true } } },
      expect = { nth = "11th", reason = "collector" } },
    { name = "the GPU has more work, and then the host computes: an evaluation",
      edges = { ["steps.stall.gpu_share"] = 0.1 },
      facts = { window = { device_time = 4e9 },
                steps = { count = 60, median = 1e8, stall = { every = 12, excess = 1.6e9, what = "host code", lost = 1.5e9, bytes = 4,
                                                              gpu_share = 0.3, remedy = true } } },
      expect = { nth = "12th", reason = "evaluation", part = "part of ", what_text = " There, the time goes to host code." } },
    { name = "megabytes are copied where no range says why: a checkpoint",
      facts = { window = { device_time = 4e9 },
                steps = { count = 60, median = 1e8, stall = { every = 21, excess = 1.6e9, what = "host code", lost = 1.5e9, bytes = 4e8,
                                                              remedy = true } } },
      expect = { nth = "21st", reason = "checkpoint" } },
    { name = "near miss: evaluation keeps the GPU busy",
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 5, excess = 1.6e9, what = "evaluation", lost = 1e7,
                                                              remedy = true } } },
      expect = "silent" },
    { name = "near miss: the excess is a wait for data, which input/ judges",
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 4, excess = 1.6e9, what = "data loading", lost = 1.5e9,
                                                              remedy = true } } },
      expect = "silent" },
    { name = "one step in eleven waits for another thread, and the others do not",
      facts = { window = { device_time = 4e9 }, host = { os_wait = { per_step = 0.09 } },
                steps = { count = 60, median = 1e8, stall = { every = 11, excess = 1.6e9, what = "waiting in the OS", lost = 1.5e9,
                                                              remedy = true } } },
      expect = { nth = "11th", reason = "other" } },
    { name = "near miss: each step waits for one of two threads, and the first of two longer",
      edges = { ["host.os_wait.per_step"] = 0.75 },
      facts = { window = { device_time = 4e9 }, host = { os_wait = { per_step = 1 } },
                steps = { count = 60, median = 1e7, stall = { every = 2, excess = 1.6e9, what = "waiting in the OS", lost = 1.5e9,
                                                              remedy = true } } },
      expect = "silent" },
    { name = "near miss: it came once",
      facts = { window = { device_time = 4e9 },
                steps = { count = 20, median = 1e8, stall = { every = 15, excess = 4e8, what = "checkpoint", lost = 4e8,
                                                              remedy = true } } },
      expect = "silent" },
    { name = "host code after every twelfth of the kernels that a loop launches",
      facts = { window = { device_time = 4e9 },
                steps = { count = 480, median = 4e6, stall = { every = 12, excess = 1.6e9, what = "host code", lost = 1.5e9, bytes = 0,
                                                               of_pieces = true, remedy = true } } },
      expect = "not_applicable" },
    { name = "a field is written after every twelfth kernel of a solver",
      facts = { window = { device_time = 4e9 },
                steps = { count = 480, median = 4e6, stall = { every = 12, excess = 1.6e9, what = "file calls", lost = 1.5e9, bytes = 0,
                                                               of_pieces = true, remedy = true } } },
      expect = { nth = "12th", reason = "write" } },
    { name = "the host polls with pauses behind every fifth kernel of a loop: host/sleeping speaks of it",
      facts = { window = { device_time = 4e9 },
                steps = { count = 480, median = 4e6, stall = { every = 5, excess = 1.6e9, what = "sleeping", lost = 1.5e9, bytes = 0,
                                                               of_pieces = true, remedy = true } } },
      expect = "not_applicable" },
    { name = "every tenth step sleeps: host/sleeping speaks of it",
      facts = { window = { device_time = 4e9 },
                steps = { count = 60, median = 1e8, stall = { every = 10, excess = 1.6e9, what = "sleeping", lost = 1.5e9, bytes = 0,
                                                              remedy = true } } },
      expect = "not_applicable" },
    { name = "every tenth step waits for a lock: host/lock-contention speaks of it",
      facts = { window = { device_time = 4e9 }, host = { lock = { count = 6 } },
                steps = { count = 60, median = 1e8, stall = { every = 10, excess = 1.6e9, what = "waiting for locks", lost = 1.5e9, bytes = 0,
                                                              remedy = true } } },
      expect = "not_applicable" },
    { name = "four waits for a lock are too few for that",
      facts = { window = { device_time = 4e9 }, host = { lock = { count = 4 } },
                steps = { count = 60, median = 1e8, stall = { every = 15, excess = 1.6e9, what = "waiting for locks", lost = 1.5e9, bytes = 0,
                                                              remedy = true } } },
      expect = { reason = "other" } },
    { name = "a shard of the data is read every 16 steps",
      facts = { window = { device_time = 4e9 },
                steps = { count = 60, median = 1e8, stall = { every = 16, excess = 1.6e9, what = "reading files", lost = 1.5e9, bytes = 0,
                                                              remedy = true } } },
      expect = { nth = "16th", reason = "read", what_text = " The extra time goes to reading files.",
                 why = "In these steps, the launching thread reads files, such as the next part of the data, and the loop stops until they are read." } },
    { name = "a tool is called every 60 tokens",
      facts = { window = { device_time = 4e9 },
                steps = { count = 600, median = 1e7, stall = { every = 60, excess = 1.6e9, what = "waiting for a child process", lost = 1.5e9,
                                                               remedy = true } } },
      expect = { nth = "60th", reason = "child" }, saving = { claims = 1.5e9, confidence = 0.35 } },
    { name = "a server recorded without OS calls",
      facts = { window = { device_time = 4e9 },
                steps = { count = 60, median = 1e8, stall = { every = 11, excess = 1.6e9, what = "host code", lost = 1.5e9, bytes = 0,
                                                              may_wait = true, remedy = true } } },
      expect = "not_applicable" },
    { name = "a server whose requests come once in twelve tokens",
      facts = { window = { device_time = 4e9 }, serving = { no_request = { lost = 1.5e9 } },
                steps = { count = 60, median = 1e8, stall = { every = 12, excess = 1.6e9, what = "waiting in the OS", lost = 1.5e9,
                                                              remedy = true } } },
      expect = "not_applicable" },
    { name = "a server that always has a request waits for another thread",
      facts = { window = { device_time = 4e9 }, serving = { no_request = { lost = 0 } },
                steps = { count = 60, median = 1e8, stall = { every = 12, excess = 1.6e9, what = "waiting in the OS", lost = 1.5e9,
                                                              remedy = true } } },
      expect = { nth = "12th" } },
    { name = "slow steps come by chance", facts = { window = { device_time = 4e9 }, steps = { count = 20, median = 1e8 } },
      expect = "not_applicable" },
    { name = "no steps were found", facts = { window = { device_time = 4e9 } }, expect = "cannot_tell" },
  },
}
