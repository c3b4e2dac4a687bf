-- Bytes go from the device to the host and come back soon after: a step that runs on the CPU in the middle of GPU
-- work (NumPy, a library without a GPU version, .cpu() ... .cuda()). Both copies, the host work between them and the
-- lost lead of the host are on the critical path.
return {
  id        = "transfer/round-trip",
  title     = "Keep the data on the GPU instead of sending it to the host and back",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 79,   -- above step/periodic-stall: what the host computes between the copies is a part of the round trip
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates", "transfer/pageable-copy", "transfer/blocking-copy",
                "sync/host-busy-wait", "host/cpu-bound" },
  knowledge = { "K-H10" },

  loss           = "copy.roundtrip",
  not_applicable = "no downloaded data is uploaded again",
  evidence       = { "count", "per_step", "bytes" },
  optional       = { "copy.roundtrip.directive", "copy.roundtrip.by_directives", "copy.roundtrip.activations" },
  thresholds     = { "min_share", "min_count", "of_activations" },

  symptom = "{bytes:bytes} go from the GPU to the host and back, in {count:count} copies. Meanwhile, the GPU computes nothing for {share:pct} of the time.{where:text}",
  cause   = "{why:text}",
  fixes   = {
    { reason = "activations", action = "Keep activations on the GPU if they fit; else compute some of them again in the backward pass, which takes less time than these copies",
      snippet = "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)     # instead of save_on_cpu()",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "activations", action = "If they must go to the host, use pinned memory and another stream, so that they travel while layers compute",
      snippet = "with torch.autograd.graph.save_on_cpu(pin_memory=True):\n    y = model(x)", language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "!activations", action  = "Do this part on the GPU as well",
      snippet = [[# instead of: y = torch.from_numpy(np.clip(x.cpu().numpy(), 0, 1)).cuda()
y = x.clamp(0, 1)              # CuPy and cuDF cover much of NumPy, SciPy and pandas]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Copy arrays to the GPU once, and pass these to kernels: Numba copies a NumPy array there and back at each launch",
      snippet = [[x = cuda.to_device(array)                       # once, before the loop
kernel[grid, block](x)                          # not kernel[grid, block](array)]],
      language = "python", ["for"] = { "numba" } },
    { action  = "Do this part on the GPU as well: CuPy has most of NumPy and SciPy",
      snippet = "y = cupy.clip(x, 0, 1)                    # instead of: numpy.clip(x.get(), 0, 1)",
      language = "python", ["for"] = { "cupy" } },
    { action  = "Do this part on the GPU as well, inside the compiled function",
      snippet = "y = jax.numpy.clip(x, 0, 1)           # instead of: np.clip(np.asarray(x), 0, 1)",
      language = "python", ["for"] = { "jax" } },
    { reason  = "!region", action = "Do this part on the GPU as well",
      snippet = "kernel<<<grid, block, 0, stream>>>(data);   // Thrust and CUB have many of them",
      language = "cpp", ["for"] = { "c++" } },
    { reason = "!activations", action  = "If the host only makes a decision, make it on the GPU",
      snippet = "y = torch.where(x > limit, a, b)      # instead of: a if x.cpu() > limit else b", language = "python", ["for"] = { "pytorch" } },
    { action  = "Keep arrays in a data region around the loop, run what changes them on the GPU, and update only what the host reads",
      snippet = [[#pragma acc data copy(state[0:n])      // Fortran: !$acc data; OpenMP: #pragma omp target data map(tofrom: ...)
for (int step = 0; step < steps; ++step) advance(state, weights);   // in advance(): present(state)]],
      language = "cpp", ["for"] = { "openacc", "openmp", "fortran" } },
    { reason = "!activations", action = "If the host only passes the data on, as from one copy of a model to another, copy from GPU to GPU" },
    { reason = "!activations", action = "If this part must stay on the CPU, use pinned buffers and process the previous step's data while this step's kernels run" },
  },
  false_positives = "Deliberate offloading (optimizer state, activations) because the GPU's memory does not suffice.",
  references = { "cuda-best-practices/transfers", "pytorch/tuning-guide" },

  detect = function(f, t, e)
    local directive = f.copy.roundtrip.directive
    e.where = directive and " Most of it comes back by the " .. directive .. "." or ""
    local kept = at_least(f.copy.roundtrip.activations or 0, t.of_activations)
    e.reason = f.copy.roundtrip.by_directives and "region" or kept and "activations" or nil
    e.why = e.reason == "activations" and "The forward pass stores activations in the host's memory, and the backward pass gets them back: activation offloading."
      or e.reason == "region" and "A part of the loop runs on the CPU, or no data region keeps the arrays on the GPU."
      or "A part of the computation runs on the CPU in the middle of GPU work, or two parts of the program exchange the data through host memory."
    return e
  end,

  saving = { confidence = 0.7, basis = "both copies and the host work between them are gone" },

  tests = {
    { name = "a result goes down and comes back every step",
      edges = { ["copy.roundtrip.count"] = 3, ["copy.roundtrip.lost"] = 5e6 },
      facts = { window = { device_time = 1e9 },
                copy = { roundtrip = { count = 20, per_step = 1, bytes = 6e8, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, count = 20, per_step = 1, bytes = 6e8, where = "",
                 why = "A part of the computation runs on the CPU in the middle of GPU work, or two parts of the program exchange the data through host memory." }, saving = { claims = 2e8, confidence = 0.7 } },
    { name = "a directive copies whole arrays around each step",
      facts = { window = { device_time = 1e9 },
                copy = { roundtrip = { count = 20, per_step = 1, bytes = 6e8, lost = 2e8, remedy = true, by_directives = true,
                                       directive = "OpenACC upload of pressure at flow.f90:38" } } },
      expect = { reason = "region", why = "A part of the loop runs on the CPU, or no data region keeps the arrays on the GPU.",
                 where = " Most of it comes back by the OpenACC upload of pressure at flow.f90:38." } },
    { name = "activations are offloaded",
      edges = { ["copy.roundtrip.activations"] = 0.7 },
      facts = { window = { device_time = 1e9 },
                copy = { roundtrip = { count = 200, per_step = 10, bytes = 6e9, lost = 5e8, remedy = true, activations = 0.9 } } },
      expect = { reason = "activations", why = "The forward pass stores activations in the host's memory, and the backward pass gets them back: activation offloading." } },
    { name = "near miss: beside kernels, at no cost",
      facts = { window = { device_time = 1e9 },
                copy = { roundtrip = { count = 20, per_step = 1, bytes = 6e8, lost = 4e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: once in the window",
      facts = { window = { device_time = 1e9 },
                copy = { roundtrip = { count = 1, per_step = 0, bytes = 6e8, lost = 1e8, remedy = true } } },
      expect = "silent" },
    { name = "nothing comes back", facts = { window = { device_time = 1e9 }, copy = { roundtrip = { count = 0 } } },
      expect = "not_applicable" },
    { name = "GPU work was not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
