-- An optimizer step that launches several small kernels for each tensor of the model.
-- Multi-tensor (foreach) and fused optimizers do the same with a few launches and are not counted.
-- Of the optimizers of PyTorch, these have a fused form on GPUs. Others have a multi-tensor form, or are none of PyTorch's.
local function form_of(optimizer)
  if optimizer == nil then return "fused" end
  for _, name in ipairs({ "Adam", "AdamW", "SGD" }) do if optimizer == name then return "fused" end end
  for _, name in ipairs({ "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD" }) do
    if optimizer == name then return "foreach" end
  end
  return "own"
end

return {
  id        = "kernel/unfused-optimizer",
  title     = "Replace the many small kernels per tensor with a few for all tensors",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 74,
  explains  = { "launch/tiny-kernels", "launch/host-op-overhead", "kernel/many-tiny" },
  knowledge = { "K-H6" },
  effort    = "flag",

  loss           = "kernel.optimizer",
  applies        = "per_step",
  not_applicable = "no optimizer step with one kernel per tensor was seen",
  evidence       = { "per_step", step_share = "share" },
  optional       = { "family.fused_optimizer.per_step", "family.foreach_update.per_step", "run.kind", "run.framework", "run.optimizer", "kernel.optimizer.one_grid", "kernel.optimizer.norms" },
  thresholds     = { "min_share", "min_per_step", "pieces_from", "norms_from" },

  symptom = "{who:text} {per_step:count} small kernels {per:text}. With the gaps between them, they span {share:pct} of the time.",
  cause   = "{whose:text} one {what:text} after the other, with a handful of tiny kernels each. Launching them takes longer than the arithmetic.",
  fixes   = {
    { reason = "pieces", effort = "code", action = "Work on all pieces at once: one operation on the whole tensor, or a batched one, instead of a loop",
      snippet = "y = (x * 2).sum(dim=-1)          # instead of: for i in range(len(x)): (x[i] * 2).sum()", language = "python", ["for"] = { "pytorch" } },
    { reason = "clip", action = "Clip with multi-tensor kernels: a few for all gradients",
      snippet = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "clip", effort = "code", action = "Outside PyTorch, take the norms of all gradients in one kernel, and scale them in another" },
    { reason = "beside", effort = "code", action = "Work on all tensors at once: multi-tensor functions for averages of weights, and clip_grad_norm_ for clipping",
      snippet = "torch._foreach_mul_(averages, 0.999)                  # instead of a loop over tensors\ntorch._foreach_add_(averages, weights, alpha=0.001)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "fused", action = "Use the fused implementation: one kernel for many tensors",
      snippet = "optimizer = torch.optim.{optimizer:function}(model.parameters(), lr=lr, fused=True)", language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "fused", action = "If there is no fused one, use the multi-tensor implementation",
      snippet = "optimizer = torch.optim.{optimizer:function}(model.parameters(), lr=lr, foreach=True)", language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "foreach", action = "Use the multi-tensor implementation: a few kernels for all tensors",
      snippet = "optimizer = torch.optim.{optimizer:function}(model.parameters(), lr=lr, foreach=True)", language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "own", action = "Compile the update step of your own optimizer",
      snippet = "@torch.compile(fullgraph=False)\ndef update():\n    optimizer.step()", language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "fused", action = "Compile the update step of your own optimizer",
      snippet = "@torch.compile(fullgraph=False)\ndef update():\n    optimizer.step()", language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "!pieces", action = "Do the same for the code around it: clip with foreach=True, and set gradients to None instead of zero",
      snippet = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)\noptimizer.zero_grad(set_to_none=True)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "outside", action = "Move these operations, such as the update of the weights, into the compiled function: XLA then fuses them",
      snippet = "@jax.jit\ndef scale(arrays, factor):                      # one kernel or a few, and not one per array\n    return jax.tree.map(lambda a: a * factor, arrays)", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Models with few, large tensors, where each kernel runs for long.",
  references = { "pytorch/optimizer-implementations", "pytorch/tuning-guide" },

  -- The small kernels are of other code, then: averages of weights, or clipping by hand.
  detect = function(f, t, e)
    -- Series of small kernels in a forward pass update nothing.
    if f.run.kind == "inference" then return nil end
    local fused = (f.family.fused_optimizer.per_step or 0) + (f.family.foreach_update.per_step or 0) > 0
    -- Tensors of a model have many sizes; samples, or slices of a tensor, have one. An optimizer may have a few of one size.
    local pieces = fused and f.kernel.optimizer.one_grid and at_least(f.kernel.optimizer.one_grid, t.pieces_from)
    local clip = fused and f.kernel.optimizer.norms and at_least(f.kernel.optimizer.norms, t.norms_from)
    -- Inside a compiled function, XLA mostly fuses what works on all weights: these operations run outside of one, or are
    -- functions of their own.
    local outside = f.run.framework == "JAX"
    e.reason = outside and "outside" or clip and "clip" or pieces and "pieces" or fused and "beside" or form_of(f.run.optimizer)
    e.optimizer = f.run.optimizer or "AdamW"
    e.who = outside and "Operations that XLA did not fuse launch" or clip and "The clipping of gradients launches" or pieces and "A loop over pieces of one size launches" or fused and "Besides the optimizer, other code for all weights launches"
            or "The optimizer launches"
    e.whose = outside and "Such code works on" or clip and "Clipping measures and scales" or pieces and "The program works on" or fused and "Averages of weights, clipping or the like work on" or "The optimizer updates"
    e.what = clip and "gradient" or pieces and "piece" or "tensor"
    return e
  end,

  saving = { confidence = 0.8, basis = "a few multi-tensor kernels do the same" },

  tests = {
    { name = "1200 kernels for the update, a seventh of the time",
      edges = { ["kernel.optimizer.lost"] = 2e7, ["kernel.optimizer.per_step"] = 50 },
      facts = { window = { device_time = 1e9 },
                kernel = { optimizer = { per_step = 1200, share = 0.15, lost = 1.4e8, remedy = true } } },
      expect = { share = 0.14, per_step = 1200, step_share = 0.15, who = "The optimizer launches" },
      saving = { claims = 1.4e8 } },
    { name = "the trace names an optimizer without a fused form",
      facts = { window = { device_time = 1e9 }, run = { optimizer = "Adagrad" },
                kernel = { optimizer = { per_step = 1200, share = 0.15, lost = 1.4e8, remedy = true } } },
      expect = { reason = "foreach", optimizer = "Adagrad" } },
    { name = "an optimizer of the program's own",
      facts = { window = { device_time = 1e9 }, run = { optimizer = "Shampoo" },
                kernel = { optimizer = { per_step = 1200, share = 0.15, lost = 1.4e8, remedy = true } } },
      expect = { reason = "own" } },
    { name = "averages of weights, one tensor after the other, beside a fused optimizer",
      facts = { window = { device_time = 1e9 }, family = { fused_optimizer = { per_step = 4 } },
                kernel = { optimizer = { per_step = 780, share = 0.15, lost = 1.4e8, remedy = true } } },
      expect = { reason = "beside", who = "Besides the optimizer, other code for all weights launches" } },
    { name = "operations of JAX outside of a compiled function",
      facts = { window = { device_time = 1e9 }, run = { framework = "JAX" },
                kernel = { optimizer = { per_step = 463, share = 0.2, lost = 1.8e8, remedy = true } } },
      expect = { reason = "outside", who = "Operations that XLA did not fuse launch" } },
    { name = "a loop over the samples of a batch",
      facts = { window = { device_time = 1e9 }, family = { fused_optimizer = { per_step = 4 } },
                kernel = { optimizer = { per_step = 256, share = 0.15, lost = 1.4e8, one_grid = 0.99, remedy = true } } },
      expect = { reason = "pieces", who = "A loop over pieces of one size launches" } },
    { name = "gradients are clipped one by one, beside a fused optimizer",
      edges = { ["kernel.optimizer.norms"] = 0.3 },
      facts = { window = { device_time = 1e9 }, family = { fused_optimizer = { per_step = 4 } },
                kernel = { optimizer = { per_step = 600, share = 0.15, lost = 1.4e8, one_grid = 0.99, norms = 0.5, remedy = true } } },
      expect = { reason = "clip", who = "The clipping of gradients launches" } },
    { name = "averages of weights of which most have one size",
      facts = { window = { device_time = 1e9 }, family = { fused_optimizer = { per_step = 4 } },
                kernel = { optimizer = { per_step = 256, share = 0.15, lost = 1.4e8, one_grid = 0.8, remedy = true } } },
      expect = { reason = "beside" } },
    { name = "near miss: a multi-tensor optimizer with a dozen kernels",
      facts = { window = { device_time = 1e9 },
                kernel = { optimizer = { per_step = 12, share = 0.05, lost = 5e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: many kernels, hidden in a long step",
      facts = { window = { device_time = 1e9 },
                kernel = { optimizer = { per_step = 400, share = 0.01, lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "a series of small kernels in a forward pass",
      facts = { window = { device_time = 1e9 }, run = { kind = "inference" },
                kernel = { optimizer = { per_step = 900, share = 0.2, lost = 2e8, remedy = true } } },
      expect = "silent" },
    { name = "inference: no optimizer",
      facts = { window = { device_time = 1e9 }, kernel = { optimizer = { per_step = 0, share = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "no steps to look for it in", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
