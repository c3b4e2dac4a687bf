-- Steps that read prompts take longer than those that only generate; whoever is being answered waits that long for the next
-- token. No time is lost: this is about how evenly tokens come, so it only informs.
return {
  id        = "inference/prompts-delay-tokens",
  title     = "Prefill prompts in chunks, so that decoding does not wait for them",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "flag",
  own_steps = true,
  knowledge = { "K-E1", "K-N6" },

  needs      = { "run.serves" },
  optional   = { "serving.step", "serving.prompts.steps", "serving.prompts.step", "serving.prompts.share", "serving.prompts.waiting" },
  thresholds = { "min_ratio", "min_count" },

  symptom = "Steps that prefill prompts take {step:time}, {ratio:num} times as long as steps that only decode ({other:time}), and {part:pct} of the time of all steps. Meanwhile, {waiting:count} sequences wait for their next token.",
  cause   = "The server prefills whole prompts, or large chunks of them, in one step, and the other sequences wait until it ends.",
  fixes   = {
    { action  = "Limit the tokens per step",
      snippet = "vllm serve MODEL --enable-chunked-prefill --max-num-batched-tokens 2048", language = "bash", ["for"] = { "vllm" } },
    { action  = "Limit the tokens per step",
      snippet = "python -m sglang.launch_server --model-path MODEL --chunked-prefill-size 2048 --enable-mixed-chunk",
      language = "bash", ["for"] = { "sglang" } },
    { action = "Limit the prompt tokens per step (chunked prefill)" },
    { action = "Run prefill and decode on different GPUs, where both delays matter" },
  },
  false_positives = "Offline generation, where only the throughput counts.",
  references = { "nvidia/gpu-background" },

  applies = function(f)
    if not f.run.serves then return false, "the run shows no model server" end
    if not f.serving.prompts.steps then return false, "no range says what a step of a model server works on" end
    return f.serving.prompts.steps > 0 and f.serving.prompts.waiting > 0, "no sequence waited while prompts were prefilled"
  end,

  detect = function(f, t)
    if not at_least(f.serving.prompts.steps, t.min_count) then return nil end
    local ratio = share(f.serving.prompts.step, f.serving.step)
    if not at_least(ratio, t.min_ratio) then return nil end
    return { step = f.serving.prompts.step, other = f.serving.step, ratio = ratio, part = f.serving.prompts.share,
             waiting = f.serving.prompts.waiting }
  end,

  tests = {
    { name = "long prompts beside 24 sequences",
      edges = { ["serving.prompts.step"] = 4e7, ["serving.prompts.steps"] = 3 },
      facts = { run = { serves = true }, serving = { step = 2e7, prompts = { steps = 12, step = 2e8, share = 0.3, waiting = 24 } } },
      expect = { step = 2e8, other = 2e7, ratio = 10, part = 0.3, waiting = 24 } },
    { name = "near miss: pieces so small that they hardly take longer",
      facts = { run = { serves = true }, serving = { step = 2e7, prompts = { steps = 12, step = 3e7, share = 0.3, waiting = 24 } } },
      expect = "silent" },
    { name = "near miss: one prompt at the start",
      facts = { run = { serves = true }, serving = { step = 2e7, prompts = { steps = 1, step = 2e8, share = 0.1, waiting = 24 } } },
      expect = "silent" },
    { name = "nobody waits: prompts are read before anything is generated",
      facts = { run = { serves = true }, serving = { step = 2e7, prompts = { steps = 12, step = 2e8, share = 0.3, waiting = 0 } } },
      expect = "not_applicable" },
    { name = "a server without ranges", facts = { run = { serves = true } }, expect = "not_applicable" },
    { name = "near miss: training", facts = { run = { serves = false } }, expect = "not_applicable" },
    { name = "no GPU work", facts = {}, expect = "cannot_tell" },
  },
}
