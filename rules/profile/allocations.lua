-- The host allocates and frees memory nearly as often as it launches, and for long: probably in the loop.
return {
  id        = "profile/allocations",
  title     = "Allocate memory once, before the loop",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  knowledge = { "K-C4" },
  effort    = "code",
  observed  = "measured",

  needs      = { "totals.launches", "totals.allocations", "totals.allocation_time", "totals.calls.time" },
  thresholds = { "min_count", "min_per_launch", "min_share" },

  symptom = "According to the summary, calls that allocate or free memory take {time:time}, {share:pct} of the time in CUDA calls: {count:count} calls, against {launches:count} launches.",
  cause   = "cudaMalloc, cudaFree and similar calls block the host, and cudaFree waits for the GPU. With so many of them for the number of launches, they are probably part of the loop.",
  fixes   = {
    { action = "Allocate buffers before the loop and use them again" },
    { action = "Allocate from a memory pool, which keeps what was freed",
      snippet = "cudaMallocAsync(&buffer, bytes, stream);", language = "cpp", ["for"] = { "c++", "nvidia" } },
  },
  false_positives = "A program that allocates much at its start, and launches little afterward.",
  references = { "cuda-programming/stream-ordered-allocator" },

  applies = function(f) return f.totals.launches > 0, "no summary of calls that launch kernels was given" end,

  detect = function(f, t)
    if not at_least(f.totals.allocations, t.min_count) then return nil end
    if not at_least(share(f.totals.allocations, f.totals.launches), t.min_per_launch) then return nil end
    local part = share(f.totals.allocation_time, f.totals.calls.time)
    if not at_least(part, t.min_share) then return nil end
    return { count = f.totals.allocations, time = f.totals.allocation_time, share = part, launches = f.totals.launches }
  end,

  tests = {
    { name = "two per launch, half the time of the calls",
      edges = { ["totals.allocation_time"] = 1e8, ["totals.allocations"] = 200, ["totals.launches"] = 1e5 },
      facts = { totals = { launches = 1000, allocations = 2000, allocation_time = 5e8, calls = { time = 1e9 } } },
      expect = { count = 2000, share = 0.5 } },
    { name = "near miss: long, but a few at the start",
      facts = { totals = { launches = 1000, allocations = 6, allocation_time = 5e8, calls = { time = 1e9 } } }, expect = "silent" },
    { name = "near miss: many, and cheap",
      facts = { totals = { launches = 1000, allocations = 2000, allocation_time = 1e6, calls = { time = 1e9 } } }, expect = "silent" },
    { name = "near miss: many launches for each",
      facts = { totals = { launches = 1000000, allocations = 2000, allocation_time = 5e8, calls = { time = 1e9 } } }, expect = "silent" },
    { name = "no calls", facts = { totals = { launches = 0, allocations = 0, allocation_time = 0, calls = { time = 0 } } }, expect = "not_applicable" },
  },
}
