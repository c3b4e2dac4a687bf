-- Trains of small copies in one direction, several in a row. Each pays a call, a start on the copy engine and its
-- latency, far more than its bytes need on the link; one copy of all the bytes would pay that once.
return {
  id        = "transfer/many-small-copies",
  title     = "Pack small copies into one",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 74,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates", "transfer/low-bandwidth", "host/cpu-bound" },
  knowledge = { "K-B8", "K-H6" },

  needs_loop     = true,
  loss           = "copy.small",
  not_applicable = "there are no series of small copies",
  evidence       = { "count", "per_step", "bytes", median = "median_bytes" },
  thresholds     = { "min_share", "min_per_step" },

  symptom = "Small copies (median {median:bytes}) are made {per_step:count} times {per:text}. Meanwhile, the GPU computes nothing for {share:pct} of the time.",
  cause   = "Each copy pays for a call and its latency, whatever its size.",
  fixes   = {
    { action  = "Collect the pieces in one pinned buffer, copy once, and split on the GPU",
      snippet = [[packed = torch.empty(total, pin_memory=True)              # once; pieces of one type
torch.cat([t.reshape(-1) for t in pieces], out=packed)
parts = packed.to(device, non_blocking=True).split([t.numel() for t in pieces])]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Let the loader deliver whole batches instead of samples",
      snippet = "loader = DataLoader(dataset, batch_size=B, collate_fn=to_one_tensor, pin_memory=True)", language = "python", ["for"] = { "pytorch" } },
    { action  = "In CUDA C++, pack the pieces into one pinned buffer, copy it, and let a kernel spread them",
      snippet = "cudaMemcpyAsync(packed_device, packed_host, bytes, cudaMemcpyHostToDevice, stream);\nunpack<<<blocks, threads, 0, stream>>>(packed_device, offsets, parts);",
      language = "cpp", ["for"] = { "c++" } },
    { action = "Send one NumPy array with all pieces, and split it inside the compiled function", ["for"] = { "jax" } },
  },
  false_positives = "Pieces that are produced one after the other, such as results that other code waits for.",
  references = { "cuda-best-practices/transfers", "pytorch/pinned-memory" },

  saving = { confidence = 0.8, basis = "one copy replaces each series" },

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "four hundred copies a step",
      edges = { ["copy.small.lost"] = 5e6, ["copy.small.per_step"] = 10 },
      facts = { window = { device_time = 1e9 },
                copy = { small = { count = 4000, per_step = 400, bytes = 3.2e7, median_bytes = 8000, lost = 1e8,
                                   remedy = true } } },
      expect = { share = 0.1, count = 4000, per_step = 400, bytes = 3.2e7, median = 8000 },
      saving = { claims = 1e8, confidence = 0.8 } },
    { name = "near miss: a handful a step",
      facts = { window = { device_time = 1e9 },
                copy = { small = { count = 50, per_step = 4, bytes = 4e5, median_bytes = 8000, lost = 3e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: many, hidden behind kernels",
      facts = { window = { device_time = 1e9 },
                copy = { small = { count = 4000, per_step = 400, bytes = 3.2e7, median_bytes = 8000, lost = 2e6,
                                   remedy = true } } },
      expect = "silent" },
    { name = "copies are large or alone", facts = { window = { device_time = 1e9 }, copy = { small = { count = 0 } } },
      expect = "not_applicable" },
    { name = "GPU work was not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
