-- Trains of tiny copies inside the device, or of memsets, one after the other: each costs a launch and a few
-- microseconds for bytes that one operation would move at once.
return {
  id        = "launch/unfused-copies",
  title     = "Merge series of tiny device copies and memsets",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 67,
  explains  = { "launch/tiny-kernels", "memory/clearing" },
  knowledge = { "K-H6" },

  needs_loop     = true,
  loss           = "launch.trains",
  applies        = "count",
  not_applicable = "there are no series of tiny device copies or memsets",
  evidence       = { "ops", trains = "count" },
  thresholds     = { "min_share", "min_ops" },

  symptom = "Tiny device copies or memsets run back to back: {ops:count} {per:text}. With the gaps between them, they span {share:pct} of the time.",
  cause   = "Each of them costs a launch and its latency, whatever its size.",
  fixes   = {
    { action  = "Copy or clear many tensors with one call",
      snippet = [[torch._foreach_copy_(targets, sources)     # instead of: for t, s in zip(...): t.copy_(s)
torch._foreach_zero_(buffers)]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Keep the pieces as views into one flat buffer, and copy or clear the whole buffer" },
    { action  = "In CUDA C++, move all pieces with one kernel, or put the sequence into a graph",
      snippet = "copy_pieces<<<blocks, threads, 0, stream>>>(pieces, count);     // sources, targets and sizes in device memory",
      language = "cpp", ["for"] = { "c++" } },
  },
  false_positives = "Pieces that are produced one after the other.",
  references = { "cuda-programming/graphs", "pytorch/compile" },

  saving = { confidence = 0.7, basis = "one operation replaces each series" },

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "two hundred tiny copies a step",
      edges = { ["launch.trains.lost"] = 1e7, ["launch.trains.ops"] = 20 },
      facts = { window = { device_time = 1e9 }, launch = { trains = { count = 40, ops = 200, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, trains = 40, ops = 200 }, saving = { claims = 6e7, confidence = 0.7 } },
    { name = "near miss: a short train",
      facts = { window = { device_time = 1e9 }, launch = { trains = { count = 20, ops = 5, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: long trains that cost little",
      facts = { window = { device_time = 1e9 }, launch = { trains = { count = 40, ops = 200, lost = 4e6, remedy = true } } },
      expect = "silent" },
    { name = "no trains", facts = { window = { device_time = 1e9 }, launch = { trains = { count = 0 } } },
      expect = "not_applicable" },
    { name = "GPU work was not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
