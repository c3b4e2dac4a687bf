-- Unified memory that migrates to the GPU and back again: the working set does not fit, or host and GPU touch the same
-- pages in turn.
return {
  id        = "transfer/migration-thrash",
  title     = "Keep managed memory on the GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "design",
  priority  = 78,
  explains  = { "transfer/managed-memory-faults", "transfer/exposed-copy" },
  knowledge = { "K-H15" },

  needs      = { "window.device_time", "copy.migration.bytes", "copy.migration.back_bytes", "copy.migration.lost",
                 "copy.migration.remedy" },
  optional   = { "copy.migration.evicted_bytes" },
  thresholds = { "min_share", "min_back" },

  symptom = "{back:pct} of the bytes that migrate go back to the host{why_back:text}. Migrations, and kernels that wait for them, take {share:pct} of the time.",
  cause   = "{cause_text:text}",
  fixes   = {
    { reason = "full", action = "Work on parts that fit into the GPU's memory" },
    { reason = "full", action = "Split the problem over more GPUs, or store it in a smaller type" },
    { reason = "!full", action  = "Say where the data should stay",
      snippet = [[cudaMemAdvise(data, bytes, cudaMemAdviseSetPreferredLocation, device);   // CUDA 13: a cudaMemLocation in place of device
cudaMemPrefetchAsync(data, bytes, device, stream);]],
      language = "cpp", ["for"] = { "c++" } },
    { reason = "!full", action = "Work on parts that fit into the GPU's memory" },
    { reason = "!full", action = "Keep what the host needs in a separate buffer" },
  },
  false_positives = "Results that are read once at the end.",
  references = { "cuda-programming/unified-memory" },

  applies = function(f)
    return f.copy.migration.bytes > 0, "no unified memory migrates"
  end,

  detect = function(f, t)
    local lost = share(f.copy.migration.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    local back = share(f.copy.migration.back_bytes, f.copy.migration.bytes)
    if not at_least(back, t.min_back) then return nil end
    local full = 2 * (f.copy.migration.evicted_bytes or 0) > f.copy.migration.back_bytes
    return { share = lost, back = back, reason = full and "full" or "touched", why_back = full and ", to make room for others" or "",
             cause_text = full and "The data does not fit on the GPU, so each page that comes drives another one out."
               or "Pages are evicted from the GPU to make room, or the host touches them between kernels." }
  end,

  saving = { claims = "copy.migration.lost", remedy = "copy.migration.remedy", confidence = 0.5,
             basis = "the pages that a kernel needs are on the GPU" },

  tests = {
    { name = "pages go to and fro",
      edges = { ["copy.migration.back_bytes"] = 2.5e9, ["copy.migration.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, copy = { migration = { bytes = 1e10, back_bytes = 5e9, lost = 3e8, remedy = true } } },
      expect = { share = 0.3, back = 0.5 },
      saving = { claims = 3e8 } },
    { name = "the data does not fit",
      edges = { ["copy.migration.evicted_bytes"] = 2.5e9 },
      facts = { window = { device_time = 1e9 },
                copy = { migration = { bytes = 1e10, back_bytes = 5e9, evicted_bytes = 4.9e9, lost = 3e8, remedy = true } } },
      expect = { reason = "full", why_back = ", to make room for others" } },
    { name = "near miss: one way only",
      facts = { window = { device_time = 1e9 }, copy = { migration = { bytes = 1e10, back_bytes = 0, lost = 3e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: it costs nothing",
      facts = { window = { device_time = 1e9 }, copy = { migration = { bytes = 1e10, back_bytes = 5e9, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "no managed memory",
      facts = { window = { device_time = 1e9 }, copy = { migration = { bytes = 0 } } },
      expect = "not_applicable" },
    { name = "no copies recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
