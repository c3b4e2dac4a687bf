-- The link to the host is busy while kernels run, although hardly any copy runs beside them: the kernels themselves read or write
-- memory of the host (mapped, or managed and left there). Each access crosses the link, so that memory of the device and the SMs idle.
-- What can be won: what is read once must cross the link in any case. In a loop, most of it is read again in each iteration: no program
-- makes new data as fast as the link carries it. Elsewhere, samples do not tell how often values are read again.
return {
  id        = "kernel/host-memory",
  title     = "Move what kernels use from host memory to the GPU",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 48,
  explains  = { "kernel/low-issue", "kernel/hot" },
  knowledge = { "K-F6" },
  effort    = "code",

  needs      = { "sample.compute.samples", "sample.compute.pcie", "sample.compute.lost" },
  optional   = { "sample.compute.sm_issue", "sample.compute.dram", "sample.compute.tensor", "copy.time", "budget.compute",
                 "steps.count", "steps.median", "hw.host_link_bytes_per_s", "hw.memory_bytes" },
  thresholds = { "min_pcie", "max_copies", "max_issue", "max_dram", "max_tensor", "min_samples", "min_steps", "max_of_memory", "full",
                 "winnable", "winnable_in_loop" },

  symptom = "While kernels run, the link to the host is {pcie:pct} busy, although copies take {copies:pct} of the compute time. Device memory runs at {dram:pct} of its peak rate.",
  cause   = "Kernels that read or write memory of the host do so over the link, which is many times slower than device memory.",
  fixes   = {
    { action  = "Copy what kernels read more than once to the GPU before the loop, and let them use the copy",
      snippet = "cudaMalloc(&buffer, bytes);                                              // once\ncudaMemcpyAsync(buffer, data, bytes, cudaMemcpyHostToDevice, stream);    // instead of cudaHostGetDevicePointer",
      language = "cpp", ["for"] = { "c++" } },
    { action  = "If the memory is managed, move it to the GPU before the kernels that use it",
      snippet = "cudaMemPrefetchAsync(data, bytes, device, stream);", language = "cpp", ["for"] = { "c++" } },
    { action  = "Where values are read once, copy them in pieces on a separate stream while kernels work on the piece before" },
  },
  false_positives = "A table that does not fit into device memory. Traffic of another process, or of a network adapter that reads the GPU's memory.",
  references = { "cuda-best-practices/pinned-memory", "nsys/gpu-metrics" },

  applies = function(f) return f.sample.compute.samples > 0, "no samples fell into compute kernels" end,

  detect = function(f, t)
    local sample = f.sample.compute
    if not at_least(sample.samples, t.min_samples) or not at_least(sample.pcie, t.min_pcie) then return nil end
    local copies = f.budget.compute and share(f.copy.time or 0, f.budget.compute) or 0
    if not at_most(copies, t.max_copies) then return nil end
    if sample.sm_issue and not at_most(sample.sm_issue, t.max_issue) then return nil end
    if sample.dram and not at_most(sample.dram, t.max_dram) then return nil end
    if sample.tensor and not at_most(sample.tensor, t.max_tensor) then return nil end
    local busy = math.min(1, sample.pcie / t.full)
    -- What one iteration reads must fit on the GPU.
    local per_step = f.steps.median and f.hw.host_link_bytes_per_s and busy * f.hw.host_link_bytes_per_s * f.steps.median / 1e9
    local again = per_step and f.hw.memory_bytes and at_least(f.steps.count or 0, t.min_steps)
      and at_most(share(per_step, f.hw.memory_bytes), t.max_of_memory)
    return { pcie = sample.pcie, copies = copies, dram = sample.dram or 0, samples = sample.samples, busy = busy, again = again and per_step or nil }
  end,

  saving = function(f, t, e)
    return { claims = f.sample.compute.lost, part = e.busy * (e.again and t.winnable_in_loop or t.winnable), confidence = 0.4,
             basis = e.again and "what kernels read over the link is the same in each iteration, for the most part"
               or "half of the time in which the link is busy goes, as if each value crossed it twice" }
  end,

  tests = {
    { name = "a table in mapped memory",
      edges = { ["sample.compute.pcie"] = 0.5, ["sample.compute.samples"] = 50, ["sample.compute.sm_issue"] = 0.15, ["sample.compute.dram"] = 0.5,
                ["sample.compute.tensor"] = 0.3, ["copy.time"] = 1e8 },
      facts = { budget = { compute = 1e9 }, copy = { time = 1e6 },
                sample = { compute = { pcie = 0.8, sm_issue = 0.04, dram = 0.13, tensor = 0, samples = 8000, lost = 1e9 } } },
      expect = { pcie = 0.8, copies = 0.001, dram = 0.13, samples = 8000 },
      saving = { claims = 1e9, part = 0.5 } },
    { name = "a link that is not full all the time",
      facts = { budget = { compute = 1e9 }, copy = { time = 0 }, sample = { compute = { pcie = 0.6, samples = 8000, lost = 1e9 } } },
      expect = { busy = 0.75 }, saving = { claims = 1e9, part = 0.375 } },
    { name = "the table is read again in each iteration of 50 ms",
      facts = { budget = { compute = 1e9 }, copy = { time = 0 }, steps = { count = 3, median = 5e7 }, hw = { host_link_bytes_per_s = 2.6e10, memory_bytes = 8e10 },
                sample = { compute = { pcie = 0.8, samples = 8000, lost = 1e9 } } },
      expect = { busy = 1, again = 1.3e9 }, saving = { claims = 1e9, part = 0.9 } },
    { name = "two iterations",
      facts = { budget = { compute = 1e9 }, copy = { time = 0 }, steps = { count = 2, median = 5e7 }, hw = { host_link_bytes_per_s = 2.6e10, memory_bytes = 8e10 },
                sample = { compute = { pcie = 0.8, samples = 8000, lost = 1e9 } } },
      expect = { busy = 1 }, saving = { claims = 1e9, part = 0.5 } },
    { name = "an iteration reads nearly half of what the GPU's memory holds",
      facts = { budget = { compute = 1e9 }, copy = { time = 0 }, steps = { count = 10, median = 1.45e9 }, hw = { host_link_bytes_per_s = 2.6e10, memory_bytes = 8e10 },
                sample = { compute = { pcie = 0.8, samples = 8000, lost = 1e10 } } },
      expect = { busy = 1 }, saving = { claims = 1e10, part = 0.9 } },
    { name = "an iteration reads more than half of it",
      facts = { budget = { compute = 1e9 }, copy = { time = 0 }, steps = { count = 10, median = 1.62e9 }, hw = { host_link_bytes_per_s = 2.6e10, memory_bytes = 8e10 },
                sample = { compute = { pcie = 0.8, samples = 8000, lost = 1e10 } } },
      expect = { busy = 1 }, saving = { claims = 1e10, part = 0.5 } },
    { name = "near miss: copies run beside the kernels",
      facts = { budget = { compute = 1e9 }, copy = { time = 9e8 },
                sample = { compute = { pcie = 0.8, sm_issue = 0.04, dram = 0.13, tensor = 0, samples = 8000, lost = 1e9 } } }, expect = "silent" },
    { name = "near miss: a link that is hardly used",
      facts = { budget = { compute = 1e9 }, copy = { time = 0 },
                sample = { compute = { pcie = 0.05, sm_issue = 0.04, dram = 0.13, tensor = 0, samples = 8000, lost = 1e9 } } }, expect = "silent" },
    { name = "no sample fell into a kernel", facts = { sample = { compute = { pcie = 0, samples = 0, lost = 0 } } }, expect = "not_applicable" },
    { name = "no samples", facts = {}, expect = "cannot_tell" },
  },
}
