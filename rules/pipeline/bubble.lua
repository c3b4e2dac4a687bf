-- Stages of a pipeline wait for each other's activations: the bubble of filling and draining it in every step.

local function percent(part)
  return in_words(part, "pct")
end

-- What the numbers of stages, chunks and micro-batches make of it; nothing when no steps are known.
local function expectation(pipeline)
  if not pipeline.micro_batches then return "" end
  local chunks = ""
  if pipeline.chunks > 1 then chunks = " and " .. math.floor(pipeline.chunks) .. " chunks of layers per GPU (an interleaved schedule)" end
  local count = math.floor(pipeline.micro_batches + 0.5)
  return " With " .. (count == 1 and "one micro-batch" or count .. " micro-batches") .. " per step" .. chunks ..
         ", filling and draining the pipeline explains " .. percent(pipeline.expected) .. ", which this fix nearly halves."
end

-- Nothing when the schedule is interleaved already, or when there are too few micro-batches for all stages to work.
local function interleaving(pipeline)
  if pipeline.chunks > 1 or (pipeline.micro_batches or pipeline.stages) < pipeline.stages then return "" end
  local gain = "the bubble nearly halves"
  if pipeline.expected then
    gain = "the bubble falls from " .. percent(pipeline.expected) .. " to " .. percent(pipeline.interleaved)
  end
  return "Use an interleaved schedule, in which each GPU holds several smaller stages: with two of them " .. gain ..
         ", for twice as many sends"
end

return {
  id        = "pipeline/bubble",
  title     = "Split the batch into more micro-batches, so that the pipeline stays full",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 76,
  explains  = { "comm/exposed", "comm/full-link" },
  knowledge = { "K-K7", "K-N16" },
  effort    = "flag",

  needs      = { "pipeline.stages", "pipeline.chunks", "pipeline.bubble", "pipeline.bubble_lost", "window.device_time" },
  optional   = { "pipeline.bubble_remedy", "pipeline.micro_batches", "pipeline.expected", "pipeline.interleaved" },
  thresholds = { "min_bubble" },

  symptom = "The {stages:count} stages wait for each other {bubble:pct} of the time.{expectation:text}",
  cause   = "Stages have no work while the pipeline fills and drains. With p stages, m micro-batches and v chunks of layers per GPU, that is (p-1)/(vm+p-1) of the time. Anything above that comes from uneven stages or slow transfers.",
  fixes   = {
    { reason = "few", action = "Keep at least as many micro-batches (in inference: requests) in flight as there are stages: start the next one before the last stage is done" },
    { action = "Use more and smaller micro-batches: twice as many nearly halve the bubble",
      snippet = "--global-batch-size 256 --micro-batch-size 1   # Megatron-LM: micro-batches = global / micro / data-parallel size",
      language = "bash", ["for"] = { "pytorch" } },
    { action = "{interleave:text}",
      snippet = "--num-layers-per-virtual-pipeline-stage 2", language = "bash" },
    { action = "Use fewer stages, and tensor or sharded data parallelism inside a node instead" },
  },
  false_positives = "A capture of a few steps at the start of training.",
  references = { "megatron/parallelism" },

  applies = function(f) return f.pipeline.stages > 1, "no pipeline was found" end,

  detect = function(f, t)
    if not at_least(f.pipeline.bubble, t.min_bubble) then return nil end
    local few = (f.pipeline.micro_batches or f.pipeline.stages) < f.pipeline.stages
    return { stages = f.pipeline.stages, chunks = f.pipeline.chunks, bubble = f.pipeline.bubble,
             reason = few and "few" or nil,
             expectation = expectation(f.pipeline), interleave = interleaving(f.pipeline) }
  end,

  saving = { claims = "pipeline.bubble_lost", remedy = "pipeline.bubble_remedy", confidence = 0.6,
             basis = "the bubble shrinks to that of twice as many micro-batches" },

  tests = {
    { name = "four stages, four micro-batches",
      edges = { ["pipeline.bubble"] = 0.1 },
      facts = { window = { device_time = 4e9 },
                pipeline = { stages = 4, micro_batches = 4, chunks = 1, bubble = 0.45, expected = 0.43, interleaved = 0.27, bubble_lost = 6e8, bubble_remedy = true } },
      expect = { stages = 4, chunks = 1, bubble = 0.45, expectation = " With 4 micro-batches per step, filling and draining the pipeline explains 43 %, which this fix nearly halves.",
                 interleave = "Use an interleaved schedule, in which each GPU holds several smaller stages: with two of them the " ..
                              "bubble falls from 43 % to 27 %, for twice as many sends" }, saving = { claims = 6e8 } },
    { name = "interleaved already: no other schedule is advised",
      facts = { window = { device_time = 4e9 },
                pipeline = { stages = 8, micro_batches = 8, chunks = 2, bubble = 0.32, expected = 0.304, interleaved = 0.18,
                             bubble_lost = 5e8, bubble_remedy = true } },
      expect = { chunks = 2, interleave = "",
                 expectation = " With 8 micro-batches per step and 2 chunks of layers per GPU (an interleaved schedule), filling and draining the pipeline explains 30 %, which this fix nearly halves." },
      saving = { claims = 5e8 } },
    { name = "steps are not known, so that micro-batches cannot be counted",
      facts = { window = { device_time = 4e9 },
                pipeline = { stages = 4, chunks = 1, bubble = 0.4, bubble_lost = 6e8, bubble_remedy = true } },
      expect = { bubble = 0.4, expectation = "",
                 interleave = "Use an interleaved schedule, in which each GPU holds several smaller stages: with two of them the " ..
                              "bubble nearly halves, for twice as many sends" }, saving = { claims = 6e8 } },
    { name = "inference with one request in flight: an interleaved schedule wins nothing",
      facts = { window = { device_time = 8e8 },
                pipeline = { stages = 2, micro_batches = 1, chunks = 1, bubble = 0.49, expected = 0.5, interleaved = 0.33, bubble_lost = 2e8, bubble_remedy = true } },
      expect = { reason = "few", interleave = "", expectation = " With one micro-batch per step, filling and draining the pipeline explains 50 %, which this fix nearly halves." }, saving = { claims = 2e8 } },
    { name = "near miss: 32 micro-batches keep it full",
      facts = { window = { device_time = 4e9 },
                pipeline = { stages = 4, micro_batches = 32, chunks = 1, bubble = 0.08, expected = 0.086, interleaved = 0.045,
                             bubble_lost = 1e8, bubble_remedy = true } },
      expect = "silent" },
    { name = "no pipeline", facts = { pipeline = { stages = 0 } }, expect = "not_applicable" },
    { name = "one rank", facts = {}, expect = "cannot_tell" },
  },
}
