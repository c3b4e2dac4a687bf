-- One stage of a pipeline computes longer than the others, and sets the pace of all of them.
return {
  id        = "pipeline/stage-imbalance",
  title     = "Move layers off the slowest pipeline stage",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 79,
  explains  = { "pipeline/bubble", "comm/exposed", "comm/full-link" },
  knowledge = { "K-K7" },
  effort    = "flag",

  needs      = { "pipeline.stages", "pipeline.imbalance", "pipeline.slowest", "pipeline.balance_lost", "window.device_time" },
  optional   = { "pipeline.balance_remedy" },
  thresholds = { "min_imbalance", "min_share" },

  symptom = "Stage {slowest:count} (counted from 0) of {stages:count} computes {imbalance:pct} longer than the mean stage. The others wait for it {share:pct} of the time.",
  cause   = "A pipeline runs at the pace of its slowest stage. Layers differ in cost, and the first and last stages also hold the embedding and the output layer.",
  fixes   = {
    { action = "Give the slowest stage fewer layers: count the embedding and the output layer as separate layers",
      snippet = "--decoder-first-pipeline-num-layers 10 --decoder-last-pipeline-num-layers 10", language = "bash" },
    { action = "With DeepSpeed, spread the layers that take most of the time evenly: name their class",
      snippet = "PipelineModule(layers=layers, num_stages=4, partition_method=\"type:TransformerBlock\")   # default: by parameters", language = "python", ["for"] = { "deepspeed" } },
  },
  false_positives = "A GPU in that stage that runs at lower clocks; see rank/straggler.",
  references = { "megatron/parallelism" },

  applies = function(f) return f.pipeline.stages > 1, "no pipeline was found" end,

  detect = function(f, t)
    local lost = share(f.pipeline.balance_lost.time, f.window.device_time)
    if not at_least(f.pipeline.imbalance, t.min_imbalance) or not at_least(lost, t.min_share) then return nil end
    return { stages = f.pipeline.stages, slowest = f.pipeline.slowest, imbalance = f.pipeline.imbalance, share = lost }
  end,

  saving = { claims = "pipeline.balance_lost", remedy = "pipeline.balance_remedy", confidence = 0.6,
             basis = "the slowest stage is as fast as the mean" },

  tests = {
    { name = "the last stage holds the output layer",
      edges = { ["pipeline.balance_lost"] = 8e7, ["pipeline.imbalance"] = 0.05 },
      facts = { window = { device_time = 4e9 },
                pipeline = { stages = 4, imbalance = 0.4, slowest = 3, balance_lost = 4e8, balance_remedy = true } },
      expect = { stages = 4, slowest = 3, imbalance = 0.4, share = 0.1 }, saving = { claims = 4e8 } },
    { name = "near miss: stages differ by a few percent",
      facts = { window = { device_time = 4e9 },
                pipeline = { stages = 4, imbalance = 0.04, slowest = 1, balance_lost = 4e7, balance_remedy = true } },
      expect = "silent" },
    { name = "no pipeline", facts = { pipeline = { stages = 0 } }, expect = "not_applicable" },
    { name = "one rank", facts = {}, expect = "cannot_tell" },
  },
}
