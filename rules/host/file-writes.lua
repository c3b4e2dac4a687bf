-- The launching thread writes files while the GPU waits: checkpoints, samples, logs on a shared file system.
return {
  id        = "host/file-writes",
  title     = "Write files outside the loop",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 61,
  explains  = { "host/cpu-bound", "sync/host-busy-wait" },
  knowledge = { "K-C6", "K-H3" },

  needs_loop = true,
  loss       = "host.file_write",
  evidence   = { count = "per_step" },
  thresholds = { "min_share", "min_count" },

  symptom = "The launching thread stops to write files {count:count} times {per:text}. The GPU waits {share:pct} of the time for that.",
  cause   = "The launching thread waits until each write is done.",
  fixes   = {
    { action  = "Write from a background thread that outlives the loop, from a copy in host memory that the loop does not change",
      snippet = [[from concurrent.futures import ThreadPoolExecutor
writer = ThreadPoolExecutor(max_workers=1)        # once, before the loop
snapshot = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
pending = writer.submit(torch.save, snapshot, path)
# later, before the next save and at the end: pending.result()]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Write results from a background thread that outlives the loop",
      snippet = [[from concurrent.futures import ThreadPoolExecutor
writer = ThreadPoolExecutor(max_workers=1)        # once, before the loop
pending = writer.submit(torch.save, results, path)   # results: on the CPU, and no longer changed]],
      language = "python", ["for"] = { "pytorch", "inference" } },
    { action  = "Let PyTorch save checkpoints in the background",
      snippet = [[import torch.distributed.checkpoint as dcp
pending = dcp.async_save({"model": model.state_dict()}, checkpoint_id=path)]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Copy the output to pinned memory, and let another thread write it",
      snippet = [[cudaEventRecord(ready, stream);
cudaStreamWaitEvent(copy_stream, ready, 0);
cudaMemcpyAsync(host, field, bytes, cudaMemcpyDeviceToHost, copy_stream);
cudaEventRecord(copied, copy_stream);  // writer and loop wait for it]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Write to local storage first and move the files later; do not flush after each line" },
  },
  false_positives = "A run that ends with its output.",
  references = { "pytorch/tuning-guide" },

  saving = { confidence = 0.65, basis = "no files are written in the loop" },

  tests = {
    { name = "samples are written in each step",
      edges = { ["host.file_write.lost"] = 5e6, ["host.file_write.per_step"] = 0.15 },
      facts = { window = { device_time = 1e9 }, host = { file_write = { per_step = 10, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.65 } },
    { name = "near miss: buffered writes",
      facts = { window = { device_time = 1e9 }, host = { file_write = { per_step = 10, lost = 4e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, host = { file_write = { per_step = 0.05, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no writes in gaps",
      facts = { window = { device_time = 1e9 }, host = { file_write = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
