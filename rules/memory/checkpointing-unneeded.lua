-- Activation checkpointing runs the forward pass again inside the backward pass, to save memory. Where memory stays free, that time
-- buys nothing. PyTorch's reentrant form names itself in the trace; else three times the forward pass is a hint, where no
-- collectives lengthen the backward pass. How long the second forward pass takes is not recorded by itself, so nothing is claimed.
local function names_itself(rows)
  for _, row in ipairs(rows or {}) do
    if matches(row.name, "*CheckpointFunction*") then return true end
  end
  return false
end

return {
  id        = "memory/checkpointing-unneeded",
  title     = "Keep more activations instead of recomputing them: half of the memory is free",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 22,
  explains  = { "step/backward-heavy" },
  knowledge = { "K-A6", "K-H14" },

  needs      = { "steps.forward.time", "steps.backward.time", "memory.peak", "memory.capacity" },
  optional   = { "op.top", "summary.ranges", "comm.count" },
  thresholds = { "max_used", "min_ratio", "max_ratio" },

  symptom = "{sign:text}, while at most {peak:bytes} of {capacity:bytes} are in use ({used:pct}).",
  cause   = "Activation checkpointing drops activations and computes them again in the backward pass, which costs about a third more computing. It pays off only where the activations would not fit.",
  fixes   = {
    { action  = "Checkpoint fewer layers, or none, until memory is well filled",
      snippet = "for i, block in enumerate(blocks):\n    x = checkpoint(block, x, use_reentrant=False) if i % 4 == 0 else block(x)   # one in four",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "With a trainer or Megatron, turn it off, or keep all but the attention scores",
      snippet = "model.gradient_checkpointing_disable()      # Transformers; Megatron: --recompute-activations in place of --recompute-granularity full",
      language = "python", ["for"] = { "pytorch" } },
    { action = "If memory is meant to stay free for longer sequences, raise the batch until they fit just so" },
  },
  false_positives = "A test with short sequences or a small batch. Backward passes that are slow for another reason, such as scatters.",
  references = { "pytorch/activation-checkpointing" },

  applies = function(f)
    return f.steps.forward.time > 0 and f.steps.backward.time > 0 and f.memory.capacity > 0 and f.memory.peak > 0,
           "no backward pass ran, or the memory in use is not known"
  end,

  detect = function(f, t)
    local used = share(f.memory.peak, f.memory.capacity)
    if not at_most(used, t.max_used) then return nil end
    local ratio = share(f.steps.backward.time, f.steps.forward.time)
    local sign = "Activations are checkpointed (CheckpointFunction)"
    if not names_itself(f.op.top) and not names_itself(f.summary.ranges) then
      if (f.comm.count or 0) > 0 or not between(ratio, t.min_ratio, t.max_ratio) then return nil end
      sign = "The backward pass takes " .. math.floor(10 * ratio + 0.5) / 10 ..
             " times as long as the forward pass, as with activation checkpointing (a guess)"
    end
    return { sign = sign, used = used, peak = f.memory.peak, capacity = f.memory.capacity, ratio = ratio }
  end,

  tests = {
    { name = "three times the forward pass, and a third of the memory in use",
      edges = { ["memory.peak"] = 4e10, ["steps.backward.time"] = { 2.8e7, 3.5e7 } },
      facts = { steps = { forward = { time = 1e7 }, backward = { time = 3.1e7 } }, memory = { peak = 2.6e10, capacity = 8e10 } },
      expect = { used = 0.325, ratio = 3.1,
                 sign = "The backward pass takes 3.1 times as long as the forward pass, as with activation checkpointing (a guess)" } },
    { name = "it names itself, beside collectives",
      facts = { steps = { forward = { time = 1e7 }, backward = { time = 2.5e7 } }, memory = { peak = 2.6e10, capacity = 8e10 },
                comm = { count = 40 }, op = { top = { { name = "CheckpointFunctionBackward" } } } },
      expect = { sign = "Activations are checkpointed (CheckpointFunction)" } },
    { name = "near miss: memory is well filled",
      facts = { steps = { forward = { time = 1e7 }, backward = { time = 3.1e7 } }, memory = { peak = 6e10, capacity = 8e10 } },
      expect = "silent" },
    { name = "near miss: twice the forward pass",
      facts = { steps = { forward = { time = 1e7 }, backward = { time = 2e7 } }, memory = { peak = 2e10, capacity = 8e10 } },
      expect = "silent" },
    { name = "near miss: collectives lengthen the backward pass",
      facts = { steps = { forward = { time = 1e7 }, backward = { time = 3.1e7 } }, memory = { peak = 2e10, capacity = 8e10 }, comm = { count = 40 } },
      expect = "silent" },
    { name = "inference",
      facts = { steps = { forward = { time = 1e7 }, backward = { time = 0 } }, memory = { peak = 2e10, capacity = 8e10 } },
      expect = "not_applicable" },
    { name = "memory was not recorded", facts = { steps = { forward = { time = 1e7 }, backward = { time = 3.1e7 } } }, expect = "cannot_tell" },
  },
}
