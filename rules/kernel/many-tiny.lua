-- Tiny kernels behind a full queue: the host keeps up, so no gap tells of them, but each spends most of its time on
-- starting and draining. How much a fused kernel saves depends on what they compute, so this only informs.
return {
  id        = "kernel/many-tiny",
  title     = "Compile the parts of the program that run as many tiny kernels",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-C3", "K-B3" },

  needs_loop = true,
  needs      = { "window.device_time", "launch.count", "launch.tiny.share", "launch.tiny.time", "launch.queue_empty", "launch.kernels_per_step" },
  thresholds = { "min_share", "min_tiny", "max_queue_empty" },

  symptom = "Kernels that run for less than 10 µs take {share:pct} of the time, although the GPU hardly waits for their launches: {tiny:pct} of {count:count} kernels {per:text}.",
  cause   = "Starting and ending a kernel takes a few microseconds, however little it computes. Parts of the program run one operation at a time.",
  fixes   = {
    { action = "Compile these parts, and look for breaks in what is compiled already",
      snippet = "TORCH_LOGS=graph_breaks COMMAND", language = "bash", ["for"] = { "pytorch" } },
    { action = "Put all operations of a step into one function under jax.jit: XLA fuses only what one function holds",
      snippet = "train_step = jax.jit(train_step)", language = "python", ["for"] = { "jax" } },
    { action = "Process more data per kernel: a larger batch, or batched calls instead of loops", ["for"] = { "python" } },
    { action = "In CUDA C++, merge small kernels over the same data into one", ["for"] = { "c++" } },
  },
  false_positives = "Kernels that are short by nature, such as those that decode one token.",
  references = { "pytorch/compile", "nvidia/gpu-background" },

  applies = function(f) return f.launch.count > 0, "nothing was launched" end,

  detect = function(f, t)
    if not at_least(f.launch.tiny.share, t.min_tiny) then return nil end
    local taken = share(f.launch.tiny.time, f.window.device_time)
    if not at_least(taken, t.min_share) then return nil end
    -- Where the GPU waits for launches, these are the problem, and other rules say so.
    if not at_most(f.launch.queue_empty, t.max_queue_empty) then return nil end
    return { share = taken, tiny = f.launch.tiny.share, count = math.floor(f.launch.kernels_per_step + 0.5) }
  end,

  tests = {
    { name = "a part that is not compiled: 880 kernels of 3 us in each step of 11 ms",
      edges = { ["launch.tiny.time"] = 1e8, ["launch.tiny.share"] = 0.5, ["launch.queue_empty"] = 0.2 },
      facts = { window = { device_time = 1e9 }, launch = { count = 80000, kernels_per_step = 920, queue_empty = 0.01,
                                                    tiny = { share = 0.95, time = 2.4e8 } } },
      expect = { share = 0.24, tiny = 0.95, count = 920 } },
    { name = "near miss: the GPU waits for launches",
      facts = { window = { device_time = 1e9 }, launch = { count = 80000, kernels_per_step = 920, queue_empty = 0.9,
                                                    tiny = { share = 0.95, time = 2.4e8 } } },
      expect = "silent" },
    { name = "near miss: tiny kernels take little of the time",
      facts = { window = { device_time = 1e9 }, launch = { count = 80000, kernels_per_step = 920, queue_empty = 0.01,
                                                    tiny = { share = 0.95, time = 5e7 } } },
      expect = "silent" },
    { name = "near miss: most kernels are long",
      facts = { window = { device_time = 1e9 }, launch = { count = 80000, kernels_per_step = 920, queue_empty = 0.01,
                                                    tiny = { share = 0.3, time = 2e8 } } },
      expect = "silent" },
    { name = "nothing was launched",
      facts = { window = { device_time = 1e9 }, launch = { count = 0, kernels_per_step = 0, queue_empty = 0, tiny = { share = 0, time = 0 } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
