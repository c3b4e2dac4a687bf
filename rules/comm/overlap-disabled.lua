-- Communication and compute never run at the same time, although the kind of communication allows it.
-- All-gathers and reduce-scatters of sharded training can be started early, gradient all-reduces, too. All-reduces of tensor
-- parallelism, all-to-alls and sends between stages are needed at once: about those this rule is silent. Without a backward
-- pass an all-reduce is taken for tensor parallelism. Where sharding inside each node would win as much, this rule comes first:
-- the trace shows that nothing overlaps, and a setting changes that. How fast the other collectives would be, it does not show.

-- Exposed time of the collectives that compute need not wait for. Layers wait for sums of the forward pass, and for as many
-- of the backward pass.
local function deferrable(kinds, trains, forward_sums)
  local function exposed(kind) return sum(filter(kinds, function(row) return row.kind == kind end), "exposed") end
  local sums = trains and exposed("allreduce") * math.max(0, 1 - 2 * (forward_sums or 0)) or 0
  return exposed("allgather") + exposed("reducescatter") + sums
end

return {
  id        = "comm/overlap-disabled",
  title     = "Turn on the overlap of communication and compute",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 70,
  explains  = { "comm/exposed", "comm/full-link", "comm/cross-node-gather" },
  knowledge = { "K-K10", "K-B2", "K-K2", "K-N10", "K-N15" },
  effort    = "flag",

  needs      = { "comm.count", "comm.overlap", "comm.kinds", "comm.same_stream", "comm.no_overlap.lost", "comm.no_overlap.remedy",
                 "window.device_time" },
  optional   = { "steps.backward.time", "launch.waiting.share", "comm.forward_sums" },
  thresholds = { "max_overlap", "min_share", "min_deferrable", "max_waiting" },

  symptom = "For {share:pct} of the time, only communication runs, {where:text}; {overlap:pct} of the communication time overlaps with compute.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "sharded", action = "With FSDP, shard layer by layer, so that the next layer's parameters are gathered while the current layer computes",
      snippet = "for layer in model.layers:\n    fully_shard(layer)\nfully_shard(model)   # FSDP1: auto_wrap_policy=policy, forward_prefetch=True", language = "python", ["for"] = { "pytorch" } },
    { reason = "sharded", action = "With DeepSpeed, turn on overlap_comm",
      snippet = "{ \"zero_optimization\": { \"stage\": 3, \"overlap_comm\": true } }", language = "json", ["for"] = { "pytorch" } },
    { action = "Call your own collectives with async_op=True and wait where the result is used; blocking calls may run on the compute stream",
      snippet = "work = dist.all_gather_into_tensor(out, shard, async_op=True)\n...\nwork.wait()", language = "python", ["for"] = { "pytorch" } },
    { action = "Do not use CUDA_LAUNCH_BLOCKING=1, TORCH_NCCL_BLOCKING_WAIT=1 or a single hardware queue in production",
      snippet = "unset CUDA_LAUNCH_BLOCKING TORCH_NCCL_BLOCKING_WAIT", language = "bash", ["for"] = { "pytorch" } },
    { action = "With NCCL, launch collectives on a separate stream, and let only the kernels that need the result wait for an event",
      snippet = "cudaEventRecord(produced, compute_stream);     // after the kernels that write in\ncudaStreamWaitEvent(comm_stream, produced, 0);\nncclAllReduce(in, out, count, ncclFloat, ncclSum, comm, comm_stream);\ncudaEventRecord(reduced, comm_stream);\nindependent<<<grid, block, 0, compute_stream>>>(data);\ncudaStreamWaitEvent(compute_stream, reduced, 0);", language = "cpp", ["for"] = { "c++" } },
    { action = "Let XLA overlap collectives with compute",
      snippet = "export XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true", language = "bash", ["for"] = { "jax" } },
  },
  false_positives = "Collectives whose result the very next kernel needs, as in tensor parallelism.",
  references = { "deepspeed/zero", "pytorch/fsdp", "pytorch/ddp" },

  applies = function(f, t)
    if at_least(f.launch.waiting.share or 0, t.max_waiting) then
      return false, "the host waits for each kernel, so no collective can overlap with one"
    end
    return f.comm.count > 0, "no communication kernels ran"
  end,

  detect = function(f, t)
    local exposed = share(f.comm.no_overlap.lost.time, f.window.device_time)
    if not at_most(f.comm.overlap, t.max_overlap) or not at_least(exposed, t.min_share) then return nil end
    local trains = f.steps.backward.time ~= nil and f.steps.backward.time > 0
    local part = share(deferrable(f.comm.kinds, trains, f.comm.forward_sums), sum(f.comm.kinds, "exposed"))
    if not at_least(part, t.min_deferrable) then return nil end
    local gathers = sum(filter(f.comm.kinds, function(row) return row.kind == "allgather" or row.kind == "reducescatter" end), "exposed")
    return { reason = 2 * gathers >= sum(f.comm.kinds, "exposed") and "sharded" or "reduced", overlap = f.comm.overlap, share = exposed, deferrable = part,
             where = f.comm.same_stream and "on the stream of the compute kernels" or "on its own stream",
             why = f.comm.same_stream and "On one stream, each kernel waits for the one before it."
               or "Overlap is turned off, or the host waits for each collective before it launches what could run meanwhile.",
             rows = top(f.comm.kinds, "exposed", 5) }
  end,

  saving = { claims = "comm.no_overlap.lost", remedy = "comm.no_overlap.remedy", confidence = 0.6,
             basis = "communication overlaps with the compute that there is" },

  tests = {
    { name = "sharded training on one stream",
      edges = { ["comm.no_overlap.lost"] = 4e7, ["comm.overlap"] = 0.05 },
      facts = { window = { device_time = 2e9 },
                comm = { count = 300, overlap = 0.0, same_stream = true, no_overlap = { lost = 5e8, remedy = true },
                         kinds = { { kind = "allgather", count = 200, time = 3e8, exposed = 3e8 },
                                   { kind = "reducescatter", count = 100, time = 2e8, exposed = 2e8 } } } },
      expect = { overlap = 0, share = 0.25, deferrable = 1, where = "on the stream of the compute kernels", rows = 2,
                 why = "On one stream, each kernel waits for the one before it." },
      saving = { claims = 5e8 } },
    { name = "each launch waits for its kernel, which leaves nothing to overlap with",
      edges = { ["launch.waiting.share"] = 0.5 },
      facts = { window = { device_time = 2e9 }, launch = { waiting = { share = 1 } },
                comm = { count = 300, overlap = 0.0, same_stream = true, no_overlap = { lost = 5e8, remedy = true },
                         kinds = { { kind = "allgather", count = 200, time = 3e8, exposed = 3e8 } } } },
      expect = "not_applicable" },
    { name = "gradient all-reduces of a training run",
      facts = { window = { device_time = 2e9 }, steps = { backward = { time = 6e7 } },
                comm = { count = 300, overlap = 0.01, same_stream = false, no_overlap = { lost = 4e8, remedy = true },
                         kinds = { { kind = "allreduce", count = 300, time = 4e8, exposed = 4e8 } } } },
      expect = { share = 0.2, deferrable = 1, where = "on its own stream",
                 why = "Overlap is turned off, or the host waits for each collective before it launches what could run meanwhile." } },
    { name = "near miss: most sums are of layers that are split, in the forward pass as in the backward pass",
      facts = { window = { device_time = 2e9 }, steps = { backward = { time = 6e7 } },
                comm = { count = 300, overlap = 0.01, same_stream = true, forward_sums = 0.4, no_overlap = { lost = 4e8, remedy = true },
                         kinds = { { kind = "allreduce", count = 300, time = 4e8, exposed = 4e8 } } } },
      expect = "silent" },
    { name = "gathers, and sends that cannot be put off",
      edges = { ["comm.kinds[1].exposed"] = 2e8 },
      facts = { window = { device_time = 2e9 },
                comm = { count = 300, overlap = 0.0, same_stream = true, no_overlap = { lost = 5e8, remedy = true },
                         kinds = { { kind = "allgather", count = 200, time = 3e8, exposed = 3e8 },
                                   { kind = "sendrecv", count = 100, time = 2e8, exposed = 2e8 } } } },
      expect = { deferrable = 0.6 } },
    { name = "near miss: most of it is sends that cannot be put off",
      facts = { window = { device_time = 2e9 },
                comm = { count = 300, overlap = 0.0, same_stream = true, no_overlap = { lost = 5e8, remedy = true },
                         kinds = { { kind = "allgather", count = 200, time = 2e8, exposed = 2e8 },
                                   { kind = "sendrecv", count = 100, time = 3e8, exposed = 3e8 } } } },
      expect = "silent" },
    { name = "near miss: tensor-parallel inference needs each all-reduce at once",
      facts = { window = { device_time = 2e9 },
                comm = { count = 3000, overlap = 0.0, same_stream = true, no_overlap = { lost = 4e8, remedy = true },
                         kinds = { { kind = "allreduce", count = 3000, time = 4e8, exposed = 4e8 } } } },
      expect = "silent" },
    { name = "near miss: all-to-alls between halves of a layer",
      facts = { window = { device_time = 2e9 }, steps = { backward = { time = 6e7 } },
                comm = { count = 66, overlap = 0.0, same_stream = true, no_overlap = { lost = 2e8, remedy = true },
                         kinds = { { kind = "sendrecv", count = 66, time = 2e8, exposed = 2e8 } } } },
      expect = "silent" },
    { name = "near miss: what is exposed is the exchange of inputs, which the next kernels need",
      facts = { window = { device_time = 2e9 }, steps = { backward = { time = 6e7 } },
                comm = { count = 75, overlap = 0.01, same_stream = false, no_overlap = { lost = 1.6e8, remedy = true },
                         kinds = { { kind = "allreduce", count = 30, time = 4e8, exposed = 1e7 },
                                   { kind = "sendrecv", count = 45, time = 1.9e8, exposed = 1.6e8 } } } },
      expect = "silent" },
    { name = "near miss: a third of it overlaps",
      facts = { window = { device_time = 2e9 },
                comm = { count = 300, overlap = 0.33, same_stream = false, no_overlap = { lost = 5e8, remedy = true },
                         kinds = { { kind = "allgather", count = 300, time = 7e8, exposed = 5e8 } } } },
      expect = "silent" },
    { name = "one GPU",
      facts = { window = { device_time = 1e9 },
                comm = { count = 0, overlap = 0, same_stream = false, no_overlap = { lost = 0, remedy = true }, kinds = {} } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
