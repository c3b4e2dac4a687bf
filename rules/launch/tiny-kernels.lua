-- Most kernels are so short that launching them takes the host as long as running them takes the GPU. A symptom, and
-- only where it hurts: behind a full queue or inside a graph, short kernels are no launch problem.
return {
  id        = "launch/tiny-kernels",
  title     = "Fuse tiny kernels",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "code",
  priority  = 30,
  knowledge = { "K-C3", "K-B3" },

  needs_loop     = true,
  loss           = "launch.bound",
  applies        = "launch.count",
  not_applicable = "nothing was launched",
  evidence       = { tiny = "launch.tiny.share", time = "launch.tiny.time", empty = "launch.queue_empty",
                     kernel = "launch.kernel.median" },
  thresholds     = { "min_tiny", "min_share", "min_queue_empty" },

  symptom = "{tiny:pct} of the kernels run for less than 10 µs (median {kernel:time}), and the GPU is idle between them for {share:pct} of the time.",
  cause   = "The work is split into more kernels than the host can launch in time.",
  fixes   = {
    { action = "Compile the model, which fuses them", snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
    { action  = "Use fused implementations of optimizers, attention and normalization",
      snippet = [[# in training, give your optimizer fused=True, or foreach=True if it has no fused form
y = F.scaled_dot_product_attention(q, k, v)]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Process more data per kernel: use a larger batch, or batched calls (torch.bmm, torch.vmap, torch._foreach_*) instead of loops", ["for"] = { "pytorch" } },
    { action = "Fuse chains of array operations into one kernel (cupy.fuse), or work on several arrays at once, stacked into one",
      snippet = "@cupy.fuse()\ndef update(x, y, a):\n    return x + a * y                      # one kernel, and no temporary array",
      language = "python", ["for"] = { "cupy" } },
    { action = "In CUDA C++, merge small kernels over the same data into one, or launch the sequence as a CUDA graph", ["for"] = { "c++" } },
    { action = "Put all operations of a step into one function under jax.jit: XLA fuses only what one function holds",
      snippet = "train_step = jax.jit(train_step)", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Kernels that are short by nature, such as those that decode one token. A CUDA graph helps there.",
  references = { "pytorch/compile", "pytorch/optimizer-implementations" },

  detect = function(f, t, e)
    if not at_least(e.empty, t.min_queue_empty) then return nil end
    return e
  end,

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "nine of ten kernels are tiny, and the GPU runs dry",
      edges = { ["launch.bound.lost"] = 3e7, ["launch.queue_empty"] = 0.5, ["launch.tiny.share"] = 0.5 },
      facts = { window = { device_time = 1e9 },
                launch = { count = 50000, queue_empty = 0.9, tiny = { share = 0.9, time = 2e8 }, kernel = { median = 4000 },
                           bound = { lost = 5e8 } } },
      expect = { share = 0.5, tiny = 0.9, time = 2e8, empty = 0.9, kernel = 4000 } },
    { name = "near miss: tiny kernels behind a full queue",
      facts = { window = { device_time = 1e9 },
                launch = { count = 50000, queue_empty = 0.02, tiny = { share = 0.95, time = 9e8 }, kernel = { median = 4000 },
                           bound = { lost = 5e7 } } },
      expect = "silent" },
    { name = "near miss: launch-bound with longer kernels",
      facts = { window = { device_time = 1e9 },
                launch = { count = 50000, queue_empty = 0.9, tiny = { share = 0.1, time = 2e7 }, kernel = { median = 40000 },
                           bound = { lost = 3e8 } } },
      expect = "silent" },
    { name = "nothing was launched", facts = { window = { device_time = 1e9 }, launch = { count = 0 } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
