-- One kernel for each tensor of the model that sets its gradient to zero, before the backward pass adds to it.
return {
  id        = "memory/zeroed-gradients",
  title     = "Stop zeroing tensors one by one",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  effort    = "flag",
  priority  = 75,
  explains  = { "launch/tiny-kernels", "launch/host-op-overhead", "kernel/many-tiny", "launch/loop-over-pieces" },
  knowledge = { "K-H6", "K-H8" },

  needs_loop     = true,
  loss           = "kernel.zeroing",
  applies        = "per_step",
  not_applicable = "no rows of kernels clear one tensor each",
  evidence       = { count = "per_step", added = "kernel.zeroing.added" },
  optional       = { "run.kind" },
  thresholds     = { "min_share" },

  symptom = "{count:count} kernels {per:text} fill one tensor each with a constant, one after the other. With the gaps between them{adds:text}, they span {share:pct} of the time.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "gradients", action = "Set gradients to None: the backward pass then writes them instead of adding to zeros",
      snippet = "optimizer.zero_grad(set_to_none=True)       # the default since PyTorch 2.0; model.zero_grad() does the same",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "gradients", action = "Where they must stay allocated, let a multi-tensor optimizer (foreach=True or fused=True) clear all with a few kernels", ["for"] = { "pytorch", "training" } },
    { action = "Keep what is cleared in one buffer, and clear that at once", ["for"] = { "c++", "fortran" } },
    { action = "Write results instead of adding to zeros" },
  },
  false_positives = "Rows that fill tensors with something else than zeros, and gradients that an all-reduce needs in buffers of their own, as some wrappers keep them.",
  references = { "pytorch/tuning-guide" },

  detect = function(f, t, e)
    local training = f.run.kind == "training"
    e.reason = training and "gradients" or nil
    e.adds = e.added > 0 and " and " .. in_words(e.added, "count") .. " kernels that add to these tensors" or ""
    e.why = training and "In training, such series zero the gradients of all weights before each backward pass, one tensor at a time."
                     or "The program clears many tensors one after the other."
    return e
  end,

  saving = { confidence = 0.7, basis = "these kernels are gone, and so are any that only add to their zeros" },

  tests = {
    { name = "gradients of 150 tensors",
      edges = { ["kernel.zeroing.lost"] = 1e7 },
      facts = { window = { device_time = 1e9 }, run = { kind = "training" }, kernel = { zeroing = { added = 148, per_step = 150, lost = 6e7, remedy = true } } },
      expect = { share = 0.06, count = 150, added = 148, adds = " and 148 kernels that add to these tensors", reason = "gradients" },
      saving = { claims = 6e7, confidence = 0.7 } },
    { name = "buffers of a solver",
      facts = { window = { device_time = 1e9 }, run = { kind = "solver" }, kernel = { zeroing = { added = 0, per_step = 40, lost = 6e7, remedy = true } } },
      expect = { count = 40, why = "The program clears many tensors one after the other." } },
    { name = "near miss: a long step hides it",
      facts = { window = { device_time = 1e9 }, run = { kind = "training" }, kernel = { zeroing = { added = 0, per_step = 150, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "gradients are dropped",
      facts = { window = { device_time = 1e9 }, run = { kind = "training" }, kernel = { zeroing = { added = 0, per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
