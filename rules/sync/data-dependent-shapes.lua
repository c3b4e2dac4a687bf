-- nonzero, masked selection and unique have results of unknown size: the host copies the size back and waits before it
-- can go on, each time. A backward pass through an embedding has such kernels, too, and asks the host nothing: only reads
-- beside them are of sizes.
return {
  id        = "sync/data-dependent-shapes",
  title     = "Avoid results whose size depends on the data",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 78,
  explains  = { "sync/item-in-loop", "sync/forward-sync", "sync/host-busy-wait" },
  knowledge = { "K-A5", "K-C6" },

  needs_loop = true,
  needs      = { "window.device_time", "family.nonzero.per_step", "sync.item.count", "sync.item.sized",
                 "sync.item.lost", "sync.item.remedy" },
  thresholds = { "min_share", "min_per_step", "min_part" },

  symptom = "The size of some results depends on the data (nonzero, masks): {count:count} operations {per:text}. Around the waits for these sizes, the GPU computes nothing for {share:pct} of the time.",
  cause   = "The host must know the size before it can allocate the result.",
  fixes   = {
    { action  = "Keep the shape and mask instead",
      snippet = "y = torch.where(mask, f(x), x)             # instead of x[mask] = f(x[mask])",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Set a fixed capacity",
      snippet = "index = torch.nonzero_static(mask, size=capacity)      # rows beyond the last hit are -1: leave them out by a mask",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Filter out such samples when data is loaded" },
  },
  false_positives = "Operations that run once per epoch.",
  references = { "pytorch/nonzero", "cuda-runtime/sync-behavior" },

  applies = function(f) return f.family.nonzero.per_step > 0, "no operation has a result of unknown size" end,

  detect = function(f, t)
    local lost = share(f.sync.item.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) or not at_least(f.family.nonzero.per_step, t.min_per_step) then return nil end
    if not at_least(share(f.sync.item.sized, f.sync.item.count), t.min_part) then return nil end
    return { share = lost, count = f.family.nonzero.per_step }
  end,

  saving = { claims = "sync.item.lost", remedy = "sync.item.remedy", confidence = 0.6,
             basis = "the host does not wait for sizes" },

  tests = {
    { name = "a boolean index in each layer",
      edges = { ["sync.item.sized"] = 120, ["sync.item.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, family = { nonzero = { per_step = 24 } }, sync = { item = { count = 240, sized = 240, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, count = 24 },
      saving = { claims = 2e8 } },
    { name = "one boolean index in most steps",
      edges = { ["family.nonzero.per_step"] = 1 },
      facts = { window = { device_time = 1e9 }, family = { nonzero = { per_step = 1.2 } }, sync = { item = { count = 12, sized = 12, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, count = 1.2 } },
    { name = "near miss: other read-backs",
      facts = { window = { device_time = 1e9 }, family = { nonzero = { per_step = 24 } }, sync = { item = { count = 240, sized = 0, lost = 2e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: waits that cost nothing",
      facts = { window = { device_time = 1e9 }, family = { nonzero = { per_step = 24 } }, sync = { item = { count = 240, sized = 240, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "none",
      facts = { window = { device_time = 1e9 }, family = { nonzero = { per_step = 0 } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
