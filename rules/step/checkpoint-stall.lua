-- Saving the state of the model on the training thread: the GPU waits for the download, for serialization and for the
-- file system. step/periodic-stall tells the same by the clock; this one by the name of the range, which says what it is,
-- so it comes before the regular distance between such steps.
return {
  id        = "step/checkpoint-stall",
  title     = "Save checkpoints in the background",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 79,
  explains  = { "step/periodic-stall", "step/outlier", "step/jitter", "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-C6", "K-H3" },

  needs_loop     = true,
  loss           = "phase.checkpoint",
  not_applicable = "no GPU gap falls into a checkpoint range",
  evidence       = { "count" },
  thresholds     = { "min_share", "min_count" },

  symptom = "The GPU waits for checkpoints {share:pct} of the time; the window has {count:count} of them.",
  cause   = "The training thread itself serializes and writes the state.",
  fixes   = {
    { action  = "Copy the state to host memory and write it in the background",
      snippet = [[from torch.distributed.checkpoint import async_save
future = async_save({"model": model.state_dict()}, checkpoint_id=path)]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Copy the state to pinned memory on a separate stream, and let another thread write it",
      snippet = [[cudaEventRecord(ready, stream);
cudaStreamWaitEvent(copy_stream, ready, 0);
cudaMemcpyAsync(host, state, bytes, cudaMemcpyDeviceToHost, copy_stream);   // host: pinned
cudaEventRecord(copied, copy_stream);      // the writer waits for it, and the loop before it changes the state]],
      language = "cpp", ["for"] = { "c++" } },
    { action  = "Copy the state on a separate queue, and let another thread write it",
      snippet = [[#pragma acc update self(state[0:n]) async(2)     // Fortran: !$acc update self(state) async(2)
// the loop goes on with async(1); before it changes state, and before the writer reads it:
#pragma acc wait(2)]],
      language = "cpp", ["for"] = { "openacc" } },
    { action = "Write to local storage first and move the file later" },
    { action = "Save less often: weigh the cost of a checkpoint against the work that a failure would lose" },
  },
  false_positives = "The only checkpoint of a short run.",
  references = { "pytorch/tuning-guide" },

  saving = { confidence = 0.75, basis = "checkpoints overlap with GPU work" },

  tests = {
    { name = "four checkpoints on the training thread",
      edges = { ["phase.checkpoint.count"] = 2, ["phase.checkpoint.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, phase = { checkpoint = { count = 20, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 20 },
      saving = { claims = 6e7, confidence = 0.75 } },
    { name = "near miss: the state is written in the background",
      facts = { window = { device_time = 1e9 }, phase = { checkpoint = { count = 20, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: one checkpoint",
      facts = { window = { device_time = 1e9 }, phase = { checkpoint = { count = 1, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no checkpoints",
      facts = { window = { device_time = 1e9 }, phase = { checkpoint = { count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
