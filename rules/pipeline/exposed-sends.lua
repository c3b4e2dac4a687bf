-- Stages of a pipeline send activations to each other while no GPU computes: neither the bubble of the schedule nor uneven
-- stages, but the time that the links take.
return {
  id        = "pipeline/exposed-sends",
  title     = "Overlap the sends between pipeline stages with compute",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 75,
  explains  = { "comm/exposed" },
  knowledge = { "K-K7" },
  effort    = "flag",

  needs      = { "pipeline.stages", "pipeline.sends_lost", "window.device_time" },
  optional   = { "pipeline.sends_remedy" },
  thresholds = { "min_share" },

  symptom = "Sends between the {stages:count} stages transfer for {share:pct} of the time while the GPU computes nothing. Waiting for late stages is not counted.",
  cause   = "A stage waits until its neighbor has what it sends, although it could compute for another micro-batch meanwhile. A slow path between the two makes each send longer.",
  fixes   = {
    { action = "Let sends run beside the compute of other micro-batches",
      snippet = "--num-layers-per-virtual-pipeline-stage 2   # Megatron-LM: overlaps sends, unless --no-overlap-p2p-communication is given",
      language = "bash", ["for"] = { "pytorch" } },
    { action = "Check which path the sends take: neighbors should be linked by NVLink, or by InfiniBand with GPUDirect",
      snippet = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,P2P COMMAND", language = "bash" },
    { action = "Send less: where layers are split as well, each rank can send its part of the sequence only",
      snippet = "--sequence-parallel", language = "bash", ["for"] = { "pytorch" } },
  },
  false_positives = "Stages that are bound by their links by design, as over slow networks.",
  references = { "megatron/parallelism", "nccl/collectives" },

  applies = function(f) return f.pipeline.stages > 1, "no pipeline was found" end,

  detect = function(f, t)
    local lost = share(f.pipeline.sends_lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    return { stages = f.pipeline.stages, share = lost }
  end,

  saving = function(f)
    return { claims = f.pipeline.sends_lost, remedy = f.pipeline.sends_remedy, confidence = 0.5,
             basis = "sends overlap with compute" }
  end,

  tests = {
    { name = "four stages whose sends take a sixth of the time",
      edges = { ["pipeline.sends_lost"] = 8e7 },
      facts = { window = { device_time = 4e9 }, pipeline = { stages = 4, sends_lost = 6e8, sends_remedy = true } },
      expect = { stages = 4, share = 0.15 }, saving = { claims = 6e8, confidence = 0.5 } },
    { name = "near miss: sends that take hardly any time",
      facts = { window = { device_time = 4e9 }, pipeline = { stages = 4, sends_lost = 4e7, sends_remedy = true } },
      expect = "silent" },
    { name = "no stages", facts = { window = { device_time = 4e9 }, pipeline = { stages = 0, sends_lost = 0, sends_remedy = true } }, expect = "not_applicable" },
    { name = "one rank only", facts = {}, expect = "cannot_tell" },
  },
}
