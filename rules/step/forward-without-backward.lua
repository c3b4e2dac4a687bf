-- Forward passes in training that autograd does not record. Whether they are validation, a teacher, a frozen part of the
-- model or a rollout, the trace does not tell: the reader knows.
return {
  id        = "step/forward-without-backward",
  title     = "Check whether forward passes without gradients must run in every step",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-N1", "K-G5" },

  needs_loop     = true,
  loss           = "forward_only",
  not_applicable = "nothing is trained, or each forward pass has a backward pass",
  evidence       = { "count", "per_step" },
  optional       = { "forward_only.same_layers" },
  thresholds     = { "min_share", "min_same" },

  symptom = "Forward passes that no backward pass follows take {share:pct} of the time ({per_step:num} {per:text}). {layers:text}",
  cause   = "Validation runs like this, as do teachers, frozen parts of a model, and rollouts. The trace does not tell which of them this is.",
  fixes   = {
    { action  = "Where these passes are validation, run them every few hundred steps, or once per epoch",
      snippet = "if step % 500 == 0:\n    validate(model)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Where a frozen model sees the same data again, compute its outputs once and store them" },
    { action = "Where a teacher or a reference model runs, use low precision, and compile it" },
  },
  false_positives = "Methods that need these passes in each step: distillation, averaged teachers, reinforcement learning.",
  references = { "pytorch/tuning-guide" },

  detect = function(f, t, e)
    local same = f.forward_only.same_layers
    e.layers = ""
    if same then
      e.layers = at_least(same, t.min_same) and "The layers have the sizes of those that are trained."
                 or "Most of the layers have other sizes than those that are trained."
    end
    return e
  end,

  tests = {
    { name = "validation after each step",
      edges = { ["forward_only.lost"] = 1e8, ["forward_only.same_layers"] = 0.5 },
      facts = { window = { device_time = 1e9 },
                forward_only = { count = 20, per_step = 1, lost = 6e8, same_layers = 1 } },
      expect = { share = 0.6, per_step = 1, layers = "The layers have the sizes of those that are trained." } },
    { name = "a teacher",
      facts = { window = { device_time = 1e9 },
                forward_only = { count = 20, per_step = 1, lost = 3e8, same_layers = 0.1 } },
      expect = { share = 0.3, layers = "Most of the layers have other sizes than those that are trained." } },
    { name = "sizes were not recorded",
      facts = { window = { device_time = 1e9 }, forward_only = { count = 20, per_step = 1, lost = 3e8 } },
      expect = { share = 0.3, layers = "" } },
    { name = "near miss: a small reference",
      facts = { window = { device_time = 1e9 },
                forward_only = { count = 20, per_step = 1, lost = 4e7, same_layers = 1 } },
      expect = "silent" },
    { name = "all passes are trained",
      facts = { window = { device_time = 1e9 }, forward_only = { count = 0, per_step = 0, lost = 0 } },
      expect = "not_applicable" },
    { name = "operators were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
