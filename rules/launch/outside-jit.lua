-- JAX compiles each operation outside jax.jit as a separate program, and Python calls these programs one by one. In one
-- compiled function XLA fuses them, and the host makes one call.
return {
  id        = "launch/outside-jit",
  title     = "Put the operations outside jax.jit into the compiled function",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 76,
  explains  = { "launch/graph-candidate", "launch/bound", "launch/tiny-kernels", "launch/host-op-overhead", "host/cpu-bound",
                "host/blocked", "kernel/unfused-optimizer", "transfer/many-small-copies" },
  knowledge = { "K-A1", "K-H6" },

  needs_loop     = true,
  loss           = "launch.single",
  applies        = "launch.programs.per_step",
  not_applicable = "no compiled programs of XLA ran",
  evidence       = { count = "per_step", programs = "launch.programs.per_step", single = "launch.programs.single" },
  thresholds     = { "min_share", "min_count" },

  symptom = "The host calls {programs:count} compiled programs {per:text}, and {single:pct} of them hold a single operation. Between these, and in kernels that one kernel could replace, {share:pct} of the time is lost.",
  cause   = "JAX compiles each operation outside jax.jit as a separate program, and Python calls them one by one. Each reads and writes whole tensors, which a fused kernel touches once.",
  fixes   = {
    { action  = "Put all operations of a step into one function under jax.jit: gradient, optimizer, and update",
      snippet = [[def train_step(params, state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    updates, state = optimizer.update(grads, state, params)
    return jax.tree.map(lambda p, u: p + u, params, updates), state, loss
train_step = jax.jit(train_step, donate_argnums=(0, 1))]],
      language = "python", ["for"] = { "jax", "training" } },
    { action  = "Put all operations of a step into one function under jax.jit",
      snippet = "step = jax.jit(step, donate_argnums=0)   # all of its operations become one program",
      language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Code that must look at each value in Python.",
  references = { "jax/jit" },

  saving = { confidence = 0.8, basis = "one call replaces each series of programs, and element-wise kernels on tensors of one size become one" },

  tests = {
    { name = "the optimizer runs outside the compiled function",
      edges = { ["launch.single.per_step"] = 10, ["launch.single.lost"] = 1e7 },
      facts = { window = { device_time = 1e9 }, launch = { programs = { per_step = 902, single = 0.99 }, single = { per_step = 900, lost = 6e8, remedy = true } } },
      expect = { share = 0.6, count = 900, programs = 902 },
      saving = { claims = 6e8, confidence = 0.8 } },
    { name = "near miss: behind a busy GPU",
      facts = { window = { device_time = 1e9 }, launch = { programs = { per_step = 902, single = 0.99 }, single = { per_step = 900, lost = 4e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: a few values for the log",
      facts = { window = { device_time = 1e9 }, launch = { programs = { per_step = 4, single = 0.75 }, single = { per_step = 3, lost = 6e7, remedy = true } } },
      expect = "silent" },
    { name = "no JAX", facts = { window = { device_time = 1e9 }, launch = { programs = { per_step = 0 } } }, expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
