-- Memsets that nothing runs beside: gradients or buffers that are set to zero before they are written anyway.
-- A benchmark clears a buffer that is larger than the L2 cache before each run of one kernel, so that the kernel finds nothing there.
return {
  id        = "memory/clearing",
  title     = "Clear less memory",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 66,
  knowledge = { "K-H6", "K-H8" },

  needs_loop = true,
  loss       = "memset",
  evidence   = { "bytes", count = "per_step" },
  optional   = { "memset.count", "kernel.top.share" },
  thresholds = { "min_share", "min_count", "one_kernel", "cache" },

  symptom = "Memsets run alone for {share:pct} of the time: {count:count} {per:text} ({bytes:bytes} in the window).",
  cause   = "The program clears buffers that the next kernel overwrites, or sets gradients to zero instead of dropping them.",
  fixes   = {
    { action  = "Drop gradients instead of setting them to zero",
      snippet = "optimizer.zero_grad(set_to_none=True)       # the default since PyTorch 2.0",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Allocate without clearing",
      snippet = [[buffer = torch.empty(n, device="cuda")      # instead of torch.zeros]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Clear inside the kernel that uses the buffer first" },
  },
  false_positives = "Buffers into which kernels add.",
  references = { "pytorch/tuning-guide" },

  detect = function(f, t, e)
    local one_kernel = at_least(f.kernel.top.share or 0, t.one_kernel)
    if one_kernel and at_least(share(e.bytes, f.memset.count or 0), t.cache) then return nil end
    return e
  end,

  saving = { confidence = 0.6, basis = "the memsets are gone" },

  tests = {
    { name = "zeroed gradients and workspaces",
      edges = { ["memset.lost"] = 2e7, ["memset.per_step"] = 1 },
      facts = { window = { device_time = 1e9 }, memset = { per_step = 10, lost = 6e7, remedy = true, bytes = 4e9 } },
      expect = { share = 0.06, count = 10 },
      saving = { claims = 6e7, confidence = 0.6 } },
    { name = "near miss: small memsets",
      facts = { window = { device_time = 1e9 }, memset = { per_step = 10, lost = 5e6, remedy = true, bytes = 4e9 } },
      expect = "silent" },
    { name = "near miss: a benchmark of one kernel, which empties the cache before each run",
      edges = { ["kernel.top.share"] = 0.9, ["memset.bytes"] = 3e9 },
      facts = { window = { device_time = 1e9 }, memset = { per_step = 1, count = 100, lost = 4e8, remedy = true, bytes = 2.56e10 }, kernel = { top = { share = 1 } } },
      expect = "silent" },
    { name = "no memsets ran",
      facts = { window = { device_time = 1e9 }, memset = { per_step = 0, lost = 0, remedy = true, bytes = 4e9 } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
