-- Activation checkpointing runs the forward pass again inside the backward pass, to save memory. Where memory stays free, that time
-- buys nothing. Where a framework recorded its operators, those of the forward pass inside the backward pass are it, and tell
-- what it takes; else kernels in the order of the forward pass. PyTorch's reentrant form also names itself; else three times the forward pass is a hint, where no collectives
-- lengthen the backward pass. What is kept instead must fit: by the sizes of what the operators read.
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
  priority  = 76,
  explains  = { "step/backward-heavy" },
  knowledge = { "K-A6", "K-H14" },

  needs      = { "steps.forward.time", "steps.backward.time", "memory.peak", "memory.capacity", "window.device_time" },
  optional   = { "op.top", "summary.ranges", "comm.count", "activations.recomputed.count", "activations.recomputed.lost",
                 "activations.recomputed.remedy", "activations.recomputed.bytes" },
  thresholds = { "max_used", "min_ratio", "max_ratio", "min_share", "max_filled" },

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
    local e = { used = used, peak = f.memory.peak, capacity = f.memory.capacity, ratio = ratio }
    if (f.activations.recomputed.count or 0) > 0 then
      e.share = share(f.activations.recomputed.lost.time, f.window.device_time)
      if not at_least(e.share, t.min_share) then return nil end
      e.sign = "The backward pass runs the forward pass again, which takes " .. in_words(e.share, "pct") ..
               " of the time"
      return e
    end
    e.sign = "Activations are checkpointed (CheckpointFunction)"
    if not names_itself(f.op.top) and not names_itself(f.summary.ranges) then
      if (f.comm.count or 0) > 0 or not between(ratio, t.min_ratio, t.max_ratio) then return nil end
      e.sign = "The backward pass takes " .. math.floor(10 * ratio + 0.5) / 10 ..
               " times as long as the forward pass, as with activation checkpointing (a guess)"
    end
    return e
  end,

  saving = function(f, t, e)
    local bytes = f.activations.recomputed.bytes
    if not e.share or not bytes then return nil end
    local s = { claims = f.activations.recomputed.lost, confidence = 0.6 }
    if at_most(share(f.memory.peak + bytes, f.memory.capacity), t.max_filled) then
      s.remedy = f.activations.recomputed.remedy
      s.basis = "no operator of the forward pass runs twice"
    else
      s.part = share(t.max_filled * f.memory.capacity - f.memory.peak, bytes)
      s.basis = "the part of the activations that fits into memory is kept"
    end
    return s
  end,

  tests = {
    { name = "three times the forward pass, and a third of the memory in use",
      edges = { ["memory.peak"] = 4e10, ["steps.backward.time"] = { 2.8e7, 3.5e7 } },
      facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 3.1e7 } }, memory = { peak = 2.6e10, capacity = 8e10 } },
      expect = { used = 0.325, ratio = 3.1,
                 sign = "The backward pass takes 3.1 times as long as the forward pass, as with activation checkpointing (a guess)" } },
    { name = "it names itself, beside collectives",
      facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 2.5e7 } }, memory = { peak = 2.6e10, capacity = 8e10 },
                comm = { count = 40 }, op = { top = { { name = "CheckpointFunctionBackward" } } } },
      expect = { sign = "Activations are checkpointed (CheckpointFunction)" } },
    { name = "operators of the forward pass run again",
      edges = { ["activations.recomputed.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 2.5e7 } },
                memory = { peak = 2.6e10, capacity = 8e10 }, comm = { count = 40 },
                activations = { recomputed = { count = 64, lost = 2e8, remedy = true, bytes = 4e10 } } },
      expect = { share = 0.2, used = 0.325 },
      saving = { claims = 2e8, remedy = 1, confidence = 0.6 } },
    { name = "half of the activations fit",
      facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 2.5e7 } },
                memory = { peak = 2.6e10, capacity = 8e10 },
                activations = { recomputed = { count = 64, lost = 2e8, remedy = true, bytes = 9.2e10 } } },
      expect = { share = 0.2 },
      saving = { claims = 2e8, part = 0.5, confidence = 0.6 } },
    { name = "what keeping them takes is not known",
      facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 2.5e7 } },
                memory = { peak = 2.6e10, capacity = 8e10 },
                activations = { recomputed = { count = 64, lost = 2e8, remedy = true } } },
      expect = { share = 0.2 } },
    { name = "near miss: little runs again",
      facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 3.1e7 } },
                memory = { peak = 2.6e10, capacity = 8e10 },
                activations = { recomputed = { count = 2, lost = 1e7, remedy = true, bytes = 1e9 } } },
      expect = "silent" },
    { name = "near miss: memory is well filled",
      facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 3.1e7 } }, memory = { peak = 6e10, capacity = 8e10 } },
      expect = "silent" },
    { name = "near miss: twice the forward pass",
      facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 2e7 } }, memory = { peak = 2e10, capacity = 8e10 } },
      expect = "silent" },
    { name = "near miss: collectives lengthen the backward pass",
      facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 3.1e7 } }, memory = { peak = 2e10, capacity = 8e10 }, comm = { count = 40 } },
      expect = "silent" },
    { name = "inference",
      facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 0 } }, memory = { peak = 2e10, capacity = 8e10 } },
      expect = "not_applicable" },
    { name = "memory was not recorded", facts = { window = { device_time = 1e9 }, steps = { forward = { time = 1e7 }, backward = { time = 3.1e7 } } }, expect = "cannot_tell" },
  },
}
