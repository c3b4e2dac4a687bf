-- Stages of a pipeline send activations to each other while no GPU computes: neither the bubble of the schedule nor uneven
-- stages, but the time that the links take.

-- Nothing when the schedule is interleaved already.
local function overlapping(chunks)
  if chunks > 1 then return "" end
  return "Let sends overlap with the compute of other micro-batches"
end

return {
  id        = "pipeline/exposed-sends",
  title     = "Overlap the sends between pipeline stages with compute",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 75,
  explains  = { "comm/exposed", "comm/full-link" },
  knowledge = { "K-K7" },
  effort    = "flag",

  needs      = { "pipeline.stages", "pipeline.chunks", "pipeline.sends_lost", "window.device_time" },
  optional   = { "pipeline.sends_remedy", "pipeline.slow_boundary" },
  thresholds = { "min_share" },

  symptom = "Sends between the {stages:count} stages transfer for {share:pct} of the time while the GPU computes nothing. {slow:text}Waiting for late stages is not counted.",
  cause   = "A stage waits until its neighbor has what it sends, although it could compute for another micro-batch meanwhile. A slow path between the two makes each send longer.",
  fixes   = {
    { action = "Make the link between the two named stages as fast as the others: put stages that are next to each other on one node, or check " ..
               "which path their sends take", reason = "link",
      snippet = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,P2P COMMAND", language = "bash" },
    { action = "{overlap:text}",
      snippet = "--num-layers-per-virtual-pipeline-stage 2   # Megatron-LM: overlaps sends, unless --no-overlap-p2p-communication is given",
      language = "bash", ["for"] = { "pytorch" } },
    { action = "Check which path the sends take: neighbors should be linked by NVLink, or by InfiniBand with GPUDirect", reason = "!link",
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
    local slow = f.pipeline.slow_boundary
    return { stages = f.pipeline.stages, share = lost, slow = slow and "They take longest between " .. slow .. ". " or "",
             overlap = overlapping(f.pipeline.chunks), reason = slow and "link" }
  end,

  saving = { claims = "pipeline.sends_lost", remedy = "pipeline.sends_remedy", confidence = 0.5, basis = "sends overlap with compute" },

  tests = {
    { name = "four stages whose sends take a sixth of the time",
      edges = { ["pipeline.sends_lost"] = 8e7 },
      facts = { window = { device_time = 4e9 }, pipeline = { stages = 4, chunks = 1, sends_lost = 6e8, sends_remedy = true } },
      expect = { stages = 4, share = 0.15, slow = "", overlap = "Let sends overlap with the compute of other micro-batches" },
      saving = { claims = 6e8, confidence = 0.5 } },
    { name = "one link is slow, and the schedule is interleaved: no other schedule is advised",
      facts = { window = { device_time = 4e9 },
                pipeline = { stages = 4, chunks = 2, sends_lost = 6e8, sends_remedy = true,
                             slow_boundary = "stages 1 and 2 (rank 1 and rank 2), where one takes 13 ms, and 0.2 ms elsewhere" } },
      expect = { overlap = "", reason = "link", slow = "They take longest between stages 1 and 2 (rank 1 and rank 2), where one takes 13 ms, and 0.2 ms elsewhere. " },
      saving = { claims = 6e8 } },
    { name = "near miss: sends that take hardly any time",
      facts = { window = { device_time = 4e9 }, pipeline = { stages = 4, chunks = 1, sends_lost = 4e7, sends_remedy = true } },
      expect = "silent" },
    { name = "no stages", facts = { window = { device_time = 4e9 }, pipeline = { stages = 0, chunks = 1, sends_lost = 0, sends_remedy = true } }, expect = "not_applicable" },
    { name = "only one rank was recorded", facts = {}, expect = "cannot_tell" },
  },
}
