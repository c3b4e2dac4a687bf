-- The backward pass does about twice the work of the forward pass. With activation checkpointing it repeats the forward
-- pass and comes to about three times; that is the price of the memory saved, and expected. Clearly more than that hints
-- at an inefficient backward pass. A hint to look, with nothing to claim: what is necessary cannot be told from a trace.
return {
  id        = "step/backward-heavy",
  title     = "Check whether the backward pass recomputes more than it must",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "design",
  priority  = 20,
  knowledge = { "K-A6" },

  needs      = { "steps.median", "steps.forward.time", "steps.backward.time" },
  optional   = { "memory.peak", "memory.capacity" },
  thresholds = { "min_ratio", "min_share", "max_used" },

  symptom = "The backward pass takes {ratio:num} times the GPU time of the forward pass: {backward:time} and {forward:time} per step{memory:text}.",
  cause   = "A ratio of about 2 is usual. About 3 is expected with activation checkpointing, which runs the forward pass again. More than that comes from nested checkpointing, slow backward kernels, or communication inside the backward pass.",
  fixes   = {
    { action  = "With activation checkpointing, checkpoint only what costs much memory and little time, as far as memory allows",
      snippet = [[from torch.utils.checkpoint import checkpoint
out = checkpoint(block, x, use_reentrant=False)        # every second block instead of all of them]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Find out which backward operators cost most",
      snippet = 'print(prof.key_averages().table(sort_by="cuda_time_total", row_limit=20))', language = "python", ["for"] = { "pytorch" } },
    { action = "Replace custom autograd functions, and indexing with duplicates (scatter with atomics), with fused implementations; compile the model", ["for"] = { "pytorch" } },
    { action  = "With activation checkpointing, keep the results of products and recompute the rest, as far as memory allows",
      snippet = "block = jax.checkpoint(block, policy=jax.checkpoint_policies.dots_saveable)", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Activation checkpointing together with gradient communication or offloading in the backward pass. A forward pass that is partly frozen or cached.",
  references = { "pytorch/activation-checkpointing", "pytorch/compile" },

  applies = function(f) return f.steps.forward.time > 0 and f.steps.backward.time > 0, "no forward and backward passes were seen in the steps" end,

  detect = function(f, t)
    local ratio = share(f.steps.backward.time, f.steps.forward.time)
    if not at_least(ratio, t.min_ratio) then return nil end
    if not at_least(share(f.steps.backward.time, f.steps.median), t.min_share) then return nil end
    local memory, used = "", nil
    if f.memory.peak and f.memory.capacity and f.memory.peak > 0 then
      used = share(f.memory.peak, f.memory.capacity)
      memory = at_most(used, t.max_used) and "; much of the memory is free, so there is room to keep more activations" or ""
    end
    return { memory = memory, used = used, ratio = ratio, forward = f.steps.forward.time, backward = f.steps.backward.time, peak = f.memory.peak,
             capacity = f.memory.capacity }
  end,

  tests = {
    { name = "five times the forward pass",
      edges = { ["steps.backward.time"] = 3.5e7, ["steps.median"] = 2.5e8 },
      facts = { steps = { median = 7e7, forward = { time = 1e7 }, backward = { time = 5e7 } } },
      expect = { ratio = 5, forward = 1e7, backward = 5e7 } },
    { name = "memory is free: fewer activations need recomputing",
      edges = { ["memory.peak"] = 4.8e10 },
      facts = { steps = { median = 7e7, forward = { time = 1e7 }, backward = { time = 5e7 } }, memory = { peak = 3.2e10, capacity = 8e10 } },
      expect = { ratio = 5, used = 0.4, memory = "; much of the memory is free, so there is room to keep more activations" } },
    { name = "memory is short: recomputing is the price",
      facts = { steps = { median = 7e7, forward = { time = 1e7 }, backward = { time = 5e7 } }, memory = { peak = 7.6e10, capacity = 8e10 } },
      expect = { ratio = 5, used = 0.95, memory = "" } },
    { name = "near miss: three times, as with activation checkpointing",
      facts = { steps = { median = 5e7, forward = { time = 1e7 }, backward = { time = 3.1e7 } } }, expect = "silent" },
    { name = "near miss: both are a small part of the step",
      facts = { steps = { median = 1e9, forward = { time = 1e6 }, backward = { time = 5e6 } } }, expect = "silent" },
    { name = "inference", facts = { steps = { median = 5e7, forward = { time = 4e7 }, backward = { time = 0 } } },
      expect = "not_applicable" },
    { name = "phases are not known", facts = { steps = { median = 5e7 } }, expect = "cannot_tell" },
  },
}
