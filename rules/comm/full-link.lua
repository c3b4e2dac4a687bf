-- Sums of gradients that begin beside the backward pass and follow each other without a pause: the link is busy from the
-- first one to the last, and none of them can begin earlier. What the last ones show is a matter of bytes and of the path.
return {
  id        = "comm/full-link",
  title     = "Send less, or find a faster path: gradients keep the link busy",
  status    = "experimental",
  since     = "0.2",
  kind      = "symptom",
  effort    = "design",
  priority  = 31,
  explains  = { "comm/exposed" },
  knowledge = { "K-B5", "K-J2" },

  needs      = { "comm.count", "comm.queued.lost", "comm.queued.remedy", "window.device_time" },
  optional   = { "nccl.switch.rows", "nccl.nodes" },
  thresholds = { "min_share" },

  symptom = "For {share:pct} of the time, the GPU waits for gradient sums that could not begin earlier. They start beside the backward pass and follow each other without a pause.{off:text} The saving assumes half as much communication.",
  cause   = "The ranks exchange more data per step than the path between them moves during the backward pass. Part of the time in these kernels may be waiting for a late rank.",
  fixes   = {
    { reason = "off", action = "Unset the variable that keeps NCCL off a faster path, if this system has that path, and check that the job still runs",
      snippet = "ibstat   # between nodes: an active port?\nunset NCCL_P2P_DISABLE NCCL_P2P_LEVEL NCCL_IB_DISABLE", language = "bash" },
    { action = "Exchange gradients less often: accumulate them over several micro-steps, or use a larger batch per GPU",
      snippet = "with model.no_sync():\n    loss(model(x0)).backward()\nloss(model(x1)).backward()", language = "python", ["for"] = { "pytorch", "training" } },
    { action = "If gradients are sent in 32 bits, send them in 16",
      snippet = "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\nmodel.register_comm_hook(None, default_hooks.bf16_compress_hook)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Measure the path between the ranks, and compare it with what the links should reach",
      snippet = "mpirun -n RANKS ./build/all_reduce_perf -b 64M -e 1G -f 2   # one rank per GPU; from nccl-tests (AMD: rccl-tests)\nNCCL_DEBUG=INFO COMMAND 2>&1 | grep -E 'via|NET/'", language = "bash" },
  },
  false_positives = "Ranks without a report that arrive late: the sums then wait, and the link is idle.",
  references = { "pytorch/ddp", "nccl/environment" },

  applies = function(f) return f.comm.count > 0, "no communication kernels ran" end,

  detect = function(f, t)
    local queued = share(f.comm.queued.lost.time, f.window.device_time)
    if not at_least(queued, t.min_share) then return nil end
    -- Nothing shows that there is a faster path: what keeps NCCL from it is worth a look, and has no price here.
    local said = {}
    for _, row in ipairs(f.nccl.switch.rows or {}) do
      if f.nccl.nodes ~= 1 or starts_with(row.path, "peer") then
        table.insert(said, row.name .. "=" .. row.value .. " keeps NCCL from " .. row.path)
      end
    end
    return { share = queued, off = #said > 0 and " " .. table.concat(said, ", ") .. "." or "", reason = #said > 0 and "off" or nil }
  end,

  saving = { claims = "comm.queued.lost", remedy = "comm.queued.remedy", confidence = 0.4, basis = "half of the communication is gone" },

  tests = {
    { name = "a quarter of the time in sums that fill the link from the backward pass on",
      edges = { ["comm.queued.lost"] = 2e8 },
      facts = { window = { device_time = 4e9 }, comm = { count = 80, queued = { lost = 1e9, remedy = true } } },
      expect = { share = 0.25, off = "" }, saving = { claims = 1e9, confidence = 0.4 } },
    { name = "a variable keeps NCCL from the network between the nodes",
      facts = { window = { device_time = 4e9 }, comm = { count = 80, queued = { lost = 1e9, remedy = true } },
                nccl = { switch = { rows = { { name = "NCCL_IB_DISABLE", value = "1", path = "InfiniBand and RoCE" } } } } },
      expect = { reason = "off", off = " NCCL_IB_DISABLE=1 keeps NCCL from InfiniBand and RoCE." } },
    { name = "on one node, no network between nodes is missed",
      facts = { window = { device_time = 4e9 }, comm = { count = 80, queued = { lost = 1e9, remedy = true } },
                nccl = { nodes = 1, switch = { rows = { { name = "NCCL_IB_DISABLE", value = "1", path = "InfiniBand and RoCE" },
                                                         { name = "NCCL_P2P_DISABLE", value = "1", path = "peer-to-peer access in a node" } } } } },
      expect = { reason = "off", off = " NCCL_P2P_DISABLE=1 keeps NCCL from peer-to-peer access in a node." } },
    { name = "near miss: the last bucket sticks out",
      facts = { window = { device_time = 4e9 }, comm = { count = 80, queued = { lost = 5e7, remedy = true } } },
      expect = "silent" },
    { name = "one GPU",
      facts = { window = { device_time = 4e9 }, comm = { count = 0, queued = { lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
