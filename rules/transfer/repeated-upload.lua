-- The same set of uploads comes back in every step, and it is more than a batch explains: weights, constants or
-- optimizer state that live on the host and travel to the GPU each time. The link is then the limit, and overlapping
-- helps only as far as there is compute to hide the copies behind.
return {
  id        = "transfer/repeated-upload",
  title     = "Upload constant data once, and keep it on the GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "design",
  priority  = 76,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates", "transfer/pageable-copy", "transfer/blocking-copy",
                "transfer/low-bandwidth", "sync/host-busy-wait", "transfer/copy-operator" },
  knowledge = { "K-A3", "K-M4" },

  loss           = "copy.repeated",
  applies        = "per_step",
  not_applicable = "no uploads repeat beyond what a batch explains",
  evidence       = { "per_step", "memory", bytes = "bytes_per_step", rate = "bandwidth", peak = "memory.peak",
                     capacity = "memory.capacity" },
  optional       = { "memory.peak", "memory.capacity", "copy.repeated.remedy", "copy.repeated.time", "hw.host_link_bytes_per_s" },
  thresholds     = { "min_share", "many_per_step", "min_of_link" },

  symptom = "Uploads of the same sizes repeat, {per_step:count} {per:text}: {bytes:bytes} from {memory:text} memory at {rate:rate}. Meanwhile, the GPU computes nothing for {share:pct} of the time.",
  cause   = "{same:text} A trace shows sizes, not contents.",
  fixes   = {
    { action  = "Keep weights and constants on the GPU: turn CPU offloading off if memory suffices",
      snippet = [[model.to(device)     # once, before the loop
fully_shard(model)   # FSDP2 without offload_policy=CPUOffloadPolicy()
pipe.to("cuda")      # diffusers: not enable_sequential_cpu_offload()]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Build constants on the GPU, or register them with the module so that they move once",
      snippet = 'self.register_buffer("mask", mask, persistent=False)   # not mask.to(x.device) in forward()',
      language = "python", ["for"] = { "pytorch" } },
    { action = "Put constants on the GPU once, before the loop: cupy.asarray() of a NumPy array copies it each time",
      snippet = "table = cupy.asarray(array)     # once, before the loop", language = "python", ["for"] = { "cupy" } },
    { action = "Put constants on the GPU once, before the loop: a NumPy array is copied at each launch that gets it",
      snippet = "table = cuda.to_device(array)   # once, before the loop", language = "python", ["for"] = { "numba" } },
    { action = "Put constants on the GPU once: NumPy arrays are sent again with each call of a compiled function",
      snippet = "table = jax.device_put(table)   # once, before the loop", language = "python", ["for"] = { "jax" } },
    { action  = "Copy what does not change to the GPU before the loop, and what changes only when it does",
      snippet = [[cudaMemcpyAsync(weights, host, bytes, cudaMemcpyHostToDevice, stream);   // once
for (int step = 0; step < steps; ++step)
    advance<<<grid, block, 0, stream>>>(state, weights);]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Make room so that the data fits: 16-bit or 8-bit weights, sharding over more GPUs, activation checkpointing" },
    { action = "If the data must stay on the host, use each upload for more work: a larger batch, or several requests at a time" },
    { action = "With OpenACC or OpenMP, put a data region around the loop, so that arrays stay on the GPU",
      snippet = "#pragma acc data copyin(weights[0:n]) copy(state[0:m])      // Fortran: !$acc data\nfor (int step = 0; step < steps; ++step) advance(state, weights);", language = "cpp", ["for"] = { "openacc", "openmp", "fortran" } },
  },
  false_positives = "A batch of many tensors of fixed size looks alike. Compare the volume with what a batch should be.",
  references = { "cuda-best-practices/transfers", "pytorch/fsdp", "pytorch/pinned-memory" },

  detect = function(f, t, e)
    -- At the rate of the link they would hardly count, as those of a batch do: then the link is at fault. What overlaps with
    -- kernels now would overlap then, too.
    local reached = e.memory == "pinned" and f.hw.host_link_bytes_per_s and share(e.rate, f.hw.host_link_bytes_per_s) or 1
    local taken = f.copy.repeated.time and math.max(e.share, share(f.copy.repeated.time, f.window.device_time)) or e.share
    local left = taken * reached - (taken - e.share)
    if not at_least(reached, t.min_of_link) and not at_least(left, t.min_share) then return nil end
    e.same = at_least(e.per_step, t.many_per_step) and "The host probably keeps weights or other constant data, and sends it each time the GPU needs it."
             or "If the data does not change, it is sent again for nothing."
    return e
  end,

  saving = function(f, t, e)
    return { claims = f.copy.repeated.lost, remedy = f.copy.repeated.remedy, basis = "these uploads are gone",
             confidence = at_least(e.per_step, t.many_per_step) and 0.75 or 0.5 }
  end,

  tests = {
    { name = "weights travel each step",
      edges = { ["copy.repeated.lost"] = 4e7 },
      facts = { window = { device_time = 2e9 },
                copy = { repeated = { per_step = 223, bytes_per_step = 2.55e10, bandwidth = 2.77e10, memory = "pinned",
                                      lost = 1.8e9, remedy = true } } },
      expect = { share = 0.9, per_step = 223, bytes = 2.55e10, rate = 2.77e10, memory = "pinned" },
      saving = { claims = 1.8e9, confidence = 0.75 } },
    { name = "a slow link, and uploads that would cost much at its full rate as well",
      edges = { ["copy.repeated.bandwidth"] = 8.4e8 },
      facts = { window = { device_time = 2e9 }, hw = { host_link_bytes_per_s = 2.5e10 },
                copy = { repeated = { per_step = 6, bytes_per_step = 4.8e7, bandwidth = 1e9, memory = "pinned", lost = 1.2e9, remedy = true } } },
      expect = { share = 0.6 } },
    { name = "near miss: at the rate of the link they would cost nothing",
      facts = { window = { device_time = 2e9 }, hw = { host_link_bytes_per_s = 2.5e10 },
                copy = { repeated = { per_step = 6, bytes_per_step = 4.8e7, bandwidth = 5.9e8, memory = "pinned", lost = 1.2e9, remedy = true } } },
      expect = "silent" },
    { name = "near miss: at the rate of the link kernels would hide all of them, as they hide more of them now",
      facts = { window = { device_time = 2e9 }, hw = { host_link_bytes_per_s = 5.1e10 },
                copy = { repeated = { per_step = 12, bytes_per_step = 3.3e7, bandwidth = 7.65e9, memory = "pinned", time = 1.9e9, lost = 8e8, remedy = true } } },
      expect = "silent" },
    { name = "nothing hides them at the rate of the link, either",
      edges = { ["copy.repeated.bandwidth"] = 6.7e9 },
      facts = { window = { device_time = 2e9 }, hw = { host_link_bytes_per_s = 5.1e10 },
                copy = { repeated = { per_step = 12, bytes_per_step = 3.3e7, bandwidth = 7.65e9, memory = "pinned", time = 1.9e9, lost = 1.7e9, remedy = true } } },
      expect = { share = 0.85 } },
    { name = "a link near its rate is not at fault",
      edges = { ["copy.repeated.bandwidth"] = 3.06e10 },
      facts = { window = { device_time = 2e9 }, hw = { host_link_bytes_per_s = 5.1e10 },
                copy = { repeated = { per_step = 2, bytes_per_step = 2.46e6, bandwidth = 4.75e10, memory = "pinned", lost = 4.2e7, remedy = true } } },
      expect = { share = 0.021 } },
    { name = "pageable memory is slow by itself, whatever the link",
      facts = { window = { device_time = 2e9 }, hw = { host_link_bytes_per_s = 2.5e10 },
                copy = { repeated = { per_step = 6, bytes_per_step = 4.8e7, bandwidth = 5.9e8, memory = "pageable", lost = 1.2e9, remedy = true } } },
      expect = { share = 0.6 } },
    { name = "one array in each iteration of a solver",
      edges = { ["copy.repeated.per_step"] = 4 },
      facts = { window = { device_time = 2e9 },
                copy = { repeated = { per_step = 1, bytes_per_step = 1e8, bandwidth = 2e10, memory = "pinned", lost = 1e8,
                                      remedy = true } } },
      expect = { per_step = 1 }, saving = { claims = 1e8, confidence = 0.5 } },
    { name = "near miss: offloading, prefetched behind kernels",
      facts = { window = { device_time = 2e9 },
                copy = { repeated = { per_step = 48, bytes_per_step = 8e8, bandwidth = 2e10, memory = "pinned", lost = 1e7,
                                      remedy = true } } },
      expect = "silent" },
    { name = "only batches are uploaded", facts = { window = { device_time = 2e9 }, copy = { repeated = { per_step = 0 } } },
      expect = "not_applicable" },
    { name = "uploads were not recorded", facts = { window = { device_time = 2e9 } }, expect = "cannot_tell" },
  },
}
