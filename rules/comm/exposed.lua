-- Communication kernels run with no compute beside them. Why (late ranks, order, size, path) other rules say.
-- What the exposed time waits for decides what helps: sums of gradients can be sent later and less often, the messages of
-- a pipeline, of tokens or of a layer cannot.
local function reason_of(worst, trains, exchanges)
  if worst == "alltoall" or (exchanges and worst == "sendrecv") then return "exchange" end
  if worst == "allreduce" and trains == false then return "layers" end
  if worst == "allreduce" or worst == "reducescatter" then return "sums" end
  return worst == "allgather" and "weights" or "messages"
end

-- One half of what a layer waits for can be hidden behind the work on the other half of the batch, as far as there is any.
local function half_hidden(f)
  local compute = f.budget.compute and f.window.time and share(f.budget.compute, f.window.time)
  local exposed = share(f.comm.exposed.time, f.window.device_time)
  return compute and exposed > 0 and math.min(0.5, compute / exposed) or 0.5
end

-- What the links carried while communication ran and no compute; of network cards only where ranks are on several nodes.
local function traffic(f)
  local busy = f.sample.comm
  local said = {}
  local function of_peak(link, part)
    if part then table.insert(said, link .. " at " .. in_words(part, "pct") .. " of its peak rate") end
  end
  of_peak("NVLink", busy.nvlink)
  of_peak("PCIe", busy.pcie)
  if busy.nic and (f.nccl.nodes or 1) > 1 then
    table.insert(said, "network cards at " .. in_words(busy.nic, "rate"))
  end
  return #said > 0 and " Links meanwhile: " .. table.concat(said, ", ") .. "." or ""
end

return {
  id        = "comm/exposed",
  title     = "Overlap communication with compute",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  knowledge = { "K-C2", "K-N10", "K-N15", "K-L6", "K-L7", "K-L8", "K-B2", "K-G4", "K-J8", "K-J3", "K-J5" },
  effort    = "design",
  topic     = "collectives",

  needs      = { "comm.count", "comm.exposed", "comm.time", "comm.overlap", "comm.kinds", "comm.beside.remedy",
                 "window.device_time" },
  optional   = { "comm.opening", "comm.queued.lost", "run.trains", "run.decode", "sample.comm.nvlink", "sample.comm.pcie", "sample.comm.nic", "nccl.nodes", "ranges.all_to_all.count", "budget.compute", "window.time" },
  thresholds = { "min_share", "max_token_sum", "min_opening" },

  symptom = "For {share:pct} of the time, only communication runs; {overlap:pct} of the communication time overlaps with compute.{needs:text}{traffic:text}",
  cause   = "Compute kernels wait for the result, or are not launched until communication has ended. Part of the time in these kernels may be waiting for a late rank.",
  fixes   = {
    { reason = "sums", action = "Start each collective as soon as its data is ready, and wait for it only where the result is used",
      snippet = "work = dist.all_reduce(grad, async_op=True)\n...            # compute that does not need grad\nwork.wait()", language = "python", ["for"] = { "pytorch" } },
    { reason = "sums", action = "Communicate less often: accumulate gradients over several micro-steps, or use a larger batch per GPU",
      snippet = "with model.no_sync():\n    loss(model(x0)).backward()\nloss(model(x1)).backward()", language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "sums", action = "Send fewer bytes: bf16 gradients",
      snippet = "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\nmodel.register_comm_hook(None, default_hooks.bf16_compress_hook)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "weights", action = "Gather the weights of the next layer while the current one computes",
      snippet = "for layer, following in zip(layers, layers[1:]):      # FSDP2: each layer was given to fully_shard()\n    layer.set_modules_to_forward_prefetch([following])", language = "python", ["for"] = { "pytorch" } },
    { reason = "opening", action = "Let the first unit hold little: give each layer to fully_shard() by itself, so that the gather that opens a step is short",
      snippet = "for layer in model.layers:\n    fully_shard(layer)\nfully_shard(model)          # what is left: embedding, head", language = "python", ["for"] = { "pytorch" } },
    { reason = "opening", action = "Gather fewer bytes: bf16 weights",
      snippet = "from torch.distributed.fsdp import MixedPrecisionPolicy\nfully_shard(layer, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))", language = "python", ["for"] = { "pytorch" } },
    { reason = "layers", action = "Use fewer GPUs per tensor-parallel group, or overlap its collectives with the products of the layer",
      snippet = "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --sequence-parallel --tp-comm-overlap   # Megatron-LM", language = "bash", ["for"] = { "pytorch" } },
    { reason = "token", action = "Use fewer GPUs per tensor-parallel group, or serve more requests at a time: each sum then carries more" },
    { reason = "token", action = "Join each sum with the normalization behind it, where the engine has such a kernel",
      snippet = [[vllm serve MODEL --compilation-config '{"pass_config": {"fuse_allreduce_rms": true}}']],
      language = "bash", ["for"] = { "vllm" } },
    { reason = "messages", action = "Post all messages of a step at once and early, compute what does not need them, and wait where they are used",
      snippet = "requests = dist.batch_isend_irecv([dist.P2POp(dist.irecv, received, source), dist.P2POp(dist.isend, sent, target)])\n...            # compute that does not need the data\nfor request in requests:\n    request.wait()", language = "python", ["for"] = { "pytorch" } },
    { reason = "exchange", action = "Start each exchange as soon as its data is ready, and compute meanwhile what does not need the result",
      snippet = "work = dist.all_to_all_single(received, sent, async_op=True)\n...            # compute that does not need received, such as the dense layers\nwork.wait()", language = "python", ["for"] = { "pytorch" } },
    { reason = "exchange", action = "Split the batch, so that one part is exchanged while the other computes", ["for"] = { "python" } },
    { reason = "messages", action = "Split the batch, so that one part is exchanged while the other computes", ["for"] = { "python" } },
    { action = "With NCCL, launch collectives on a separate stream, and let only the kernels that need the result wait for an event",
      snippet = "cudaEventRecord(produced, compute_stream);     // after the kernels that write in\ncudaStreamWaitEvent(comm_stream, produced, 0);\nncclAllReduce(in, out, count, ncclFloat, ncclSum, comm, comm_stream);\ncudaEventRecord(reduced, comm_stream);\nindependent<<<grid, block, 0, compute_stream>>>(data);\ncudaStreamWaitEvent(compute_stream, reduced, 0);", language = "cpp", ["for"] = { "c++" } },
    { action = "With MPI, start non-blocking exchanges, compute what does not need them, then wait",
      snippet = "MPI_Irecv(halo_in, n, MPI_DOUBLE, peer, 0, comm, &requests[0]);\nMPI_Isend(halo_out, n, MPI_DOUBLE, peer, 0, comm, &requests[1]);\ninterior<<<grid, block, 0, stream>>>(field);\nMPI_Waitall(2, requests, MPI_STATUSES_IGNORE);\nboundary<<<edge, block, 0, stream>>>(field, halo_in);", language = "cpp", ["for"] = { "mpi", "c++", "fortran" } },
    { action = "Let XLA order collectives so that they overlap with compute",
      snippet = "export XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true", language = "bash", ["for"] = { "jax" } },
  },
  false_positives = "Inference with tensor parallelism, where each layer needs the result of the collective before it.",
  references = { "pytorch/ddp", "pytorch/fsdp", "nccl/collectives" },

  applies = function(f) return f.comm.count > 0, "no communication kernels ran" end,

  detect = function(f, t)
    local exposed = share(f.comm.exposed.time, f.window.device_time)
    -- Sums that follow each other without a pause from the backward pass on have nothing to overlap with.
    local queued = f.comm.queued.lost and share(f.comm.queued.lost.time, f.window.device_time) or 0
    if not at_least(exposed - queued, t.min_share) then return nil end
    local rows = top(f.comm.kinds, "exposed", 5)
    local reason = reason_of(rows[1] and rows[1].kind or "", f.run.trains, (f.ranges.all_to_all.count or 0) > 0)
    local opening = share(f.comm.opening and f.comm.opening.time or 0, f.comm.exposed.time)
    local opens = reason == "weights" and at_least(opening, t.min_opening)
    local token = reason == "layers" and f.run.decode and at_most(share(rows[1].time, rows[1].count), t.max_token_sum)
    return { share = exposed, overlap = f.comm.overlap, time = f.comm.time, count = f.comm.count, traffic = traffic(f),
             reason = token and "token" or opens and "opening" or reason, rows = rows, opening = opening,
             needs = opens and " Most of that is the gather of the first weights right after the optimizer has updated them, when nothing can overlap with it." or token and " The next kernel of the same token needs each of these short sums, so little can hide them." or "" }
  end,

  -- What no cause has claimed: hidden beside compute it costs nothing, as far as there is compute. Of exchanges and
  -- sums that a layer waits for, one half can be hidden behind the work on the other one.
  -- Behind the short sums of single tokens nothing runs, and two halves of the batch would each read all weights.
  saving = function(f, _, e)
    if e.reason == "token" then
      return { claims = f.comm.exposed, part = 0, confidence = 0.4, basis = "little can hide the sums of single tokens" }
    end
    if e.reason == "opening" then
      return { claims = f.comm.exposed, part = 1 - e.opening, confidence = 0.4, basis = "communication overlaps with compute, other than the gathers that open the steps" }
    end
    if e.reason == "exchange" then
      return { claims = f.comm.exposed, part = half_hidden(f), confidence = 0.4, basis = "one half of the data is exchanged while the other half is computed" }
    end
    if e.reason == "layers" then
      return { claims = f.comm.exposed, part = half_hidden(f), confidence = 0.4, basis = "one half of the data is summed up while the other half is computed" }
    end
    return { claims = f.comm.exposed, remedy = f.comm.beside.remedy, confidence = 0.4, basis = "communication overlaps with the compute that there is" }
  end,

  tests = {
    { name = "a quarter of the time in exposed all-reduces",
      edges = { ["comm.exposed"] = 2e8 },
      facts = { window = { device_time = 4e9 },
                comm = { beside = { remedy = true }, count = 200, exposed = 1e9, time = 3e8, overlap = 0.17,
                         kinds = { { kind = "allreduce", count = 200, time = 1.2e9, exposed = 1e9 } } } },
      expect = { share = 0.25, overlap = 0.17, count = 200, reason = "sums", rows = { { kind = "allreduce", exposed = 1e9 } } } },
    { name = "most of it gathers the weights that were just updated: nothing can run beside that",
      edges = { ["comm.opening"] = 5e8 },
      facts = { window = { device_time = 4e9 },
                comm = { beside = { remedy = true }, count = 200, exposed = 1e9, opening = 9e8, time = 3e8, overlap = 0.17,
                         kinds = { { kind = "allgather", count = 200, time = 1.2e9, exposed = 1e9 } } } },
      expect = { reason = "opening", needs = " Most of that is the gather of the first weights right after the optimizer has updated them, when nothing can overlap with it." },
      saving = { claims = 1e9, part = 0.1 } },
    { name = "near miss: most of it gathers the weights of later layers",
      facts = { window = { device_time = 4e9 },
                comm = { beside = { remedy = true }, count = 200, exposed = 1e9, opening = 3e8, time = 3e8, overlap = 0.17,
                         kinds = { { kind = "allgather", count = 200, time = 1.2e9, exposed = 1e9 } } } },
      expect = { reason = "weights", needs = "" }, saving = { claims = 1e9, confidence = 0.4 } },
    { name = "a pipeline sends no gradients that could be added up first",
      facts = { window = { device_time = 4e9 },
                comm = { beside = { remedy = true }, count = 200, exposed = 1e9, time = 3e8, overlap = 0.17,
                         kinds = { { kind = "sendrecv", count = 200, time = 1.2e9, exposed = 1e9 } } } },
      expect = { reason = "messages" } },
    { name = "ranges say that the sends are an exchange among all ranks",
      facts = { window = { device_time = 4e9 }, ranges = { all_to_all = { count = 42 } },
                comm = { beside = { remedy = true }, count = 200, exposed = 1e9, time = 3e8, overlap = 0.17,
                         kinds = { { kind = "sendrecv", count = 200, time = 1.2e9, exposed = 1e9 } } } },
      expect = { reason = "exchange" }, saving = { claims = 1e9, part = 0.5 } },
    { name = "a model that is served sums the parts of its layers",
      facts = { window = { device_time = 4e9 }, run = { trains = false },
                comm = { beside = { remedy = true }, count = 200, exposed = 1e9, time = 3e8, overlap = 0.17,
                         kinds = { { kind = "allreduce", count = 200, time = 1.2e9, exposed = 1e9 } } } },
      expect = { reason = "layers" }, saving = { claims = 1e9, part = 0.5 } },
    { name = "where little is computed, little can be hidden",
      facts = { window = { device_time = 4e9, time = 1e9 }, run = { trains = false }, budget = { compute = 5e7 },
                comm = { beside = { remedy = true }, count = 200, exposed = 2e9, time = 3e8, overlap = 0,
                         kinds = { { kind = "allreduce", count = 200, time = 2e9, exposed = 2e9 } } } },
      expect = { reason = "layers" }, saving = { claims = 2e9, part = 0.1 } },
    { name = "the short sums of single tokens can hide behind nothing",
      edges = { ["comm.kinds[1].time"] = 1e9 },
      facts = { window = { device_time = 4e9 }, run = { trains = false, decode = true },
                comm = { beside = { remedy = true }, count = 20000, exposed = 3e8, time = 3e8, overlap = 0,
                         kinds = { { kind = "allreduce", count = 20000, time = 3e8, exposed = 3e8 } } } },
      expect = { reason = "token", needs = " The next kernel of the same token needs each of these short sums, so little can hide them." },
      saving = { claims = 3e8, part = 0 } },
    { name = "near miss: long sums, of prompts",
      facts = { window = { device_time = 4e9 }, run = { trains = false, decode = true },
                comm = { beside = { remedy = true }, count = 200, exposed = 3e8, time = 3e8, overlap = 0,
                         kinds = { { kind = "allreduce", count = 200, time = 3e8, exposed = 3e8 } } } },
      expect = { reason = "layers", needs = "" } },
    { name = "samples show what the links carried meanwhile",
      facts = { window = { device_time = 4e9 }, sample = { comm = { nvlink = 0.02, pcie = 0.31, nic = 9.8e9 } }, nccl = { nodes = 2 },
                comm = { beside = { remedy = true }, count = 200, exposed = 1e9, time = 3e8, overlap = 0.17,
                         kinds = { { kind = "allreduce", count = 200, time = 1.2e9, exposed = 1e9 } } } },
      expect = { traffic = " Links meanwhile: NVLink at 2 % of its peak rate, PCIe at 31 % of its peak rate, network cards at 9.80 GB/s." } },
    { name = "on one node, network cards carry other traffic",
      facts = { window = { device_time = 4e9 }, sample = { comm = { pcie = 0.31, nic = 9.8e9 } },
                comm = { beside = { remedy = true }, count = 200, exposed = 1e9, time = 3e8, overlap = 0.17,
                         kinds = { { kind = "allreduce", count = 200, time = 1.2e9, exposed = 1e9 } } } },
      expect = { traffic = " Links meanwhile: PCIe at 31 % of its peak rate." } },
    { name = "near miss: the last bucket sticks out",
      facts = { window = { device_time = 4e9 },
                comm = { beside = { remedy = true }, count = 200, exposed = 1.2e8, time = 3e8, overlap = 0.9,
                         kinds = { { kind = "allreduce", count = 200, time = 1.2e9, exposed = 1.2e8 } } } },
      expect = "silent" },
    { name = "near miss: sums that begin with the backward pass and fill the link",
      edges = { ["comm.queued.lost"] = 8e8 },
      facts = { window = { device_time = 4e9 },
                comm = { beside = { remedy = true }, count = 200, exposed = 1e9, time = 3e8, overlap = 0.5, queued = { lost = 9e8 },
                         kinds = { { kind = "allreduce", count = 200, time = 1.2e9, exposed = 1e9 } } } },
      expect = "silent" },
    { name = "one GPU",
      facts = { window = { device_time = 1e9 }, comm = { beside = { remedy = true }, count = 0, exposed = 0, time = 0, overlap = 0, kinds = {} } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
