-- Collectives take longer than all computing together, waiting for late ranks left out: overlap cannot hide all of it, or
-- hides little. Rules about the path name the cause where it can be told. What is left is to send less, or less often.
return {
  id        = "comm/dominates",
  title     = "Send less, or find a faster path: communication takes longer than computing",
  status    = "experimental",
  since     = "0.2",
  kind      = "symptom",
  effort    = "design",
  priority  = 31,
  explains  = { "comm/exposed", "comm/full-link" },
  knowledge = { "K-B5", "K-J2" },

  needs      = { "cluster.ranks" },
  optional   = { "cluster.transfer", "cluster.window", "cluster.halved_lost", "cluster.halved_remedy", "cluster.transferring",
                 "cluster.efficiency.parallel", "cluster.queued", "cluster.missing", "strategy.tensor_lost", "budget.compute" },
  thresholds = { "min_share", "min_unhidden", "of_layers", "of_queued" },

  symptom = "For {share:pct} of the time, the GPUs only send and receive.{missing:text} There is too little computing to overlap with that. The saving assumes half as much communication.",
  cause   = "A step computes too little for the data that the ranks exchange in it, or the path between them is slow.",
  fixes   = {
    { action = "Measure the path between the ranks, and compare it with what the links should reach",
      snippet = "mpirun -n RANKS ./build/all_reduce_perf -b 64M -e 1G -f 2   # one rank per GPU; from nccl-tests (AMD: rccl-tests)\nNCCL_DEBUG=INFO COMMAND 2>&1 | grep -E 'via|NET/'", language = "bash" },
    { reason = "layers", action = "Use fewer GPUs per tensor-parallel group, or overlap its collectives with the products of the layer",
      snippet = "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --sequence-parallel --tp-comm-overlap   # Megatron-LM", language = "bash", ["for"] = { "pytorch" } },
    { reason = "!layers", action = "Exchange gradients less often: accumulate them over several micro-steps, or use a larger batch per GPU",
      snippet = "with model.no_sync():\n    loss(model(x0)).backward()\nloss(model(x1)).backward()", language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "!layers", action = "Send fewer bytes: bf16 gradients",
      snippet = "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\nmodel.register_comm_hook(None, default_hooks.bf16_compress_hook)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Use fewer ranks for this problem size: they may be as fast together" },
  },
  false_positives = "Inference of a large model over many GPUs with a batch of one.",
  references = { "pytorch/ddp", "nccl/environment" },

  applies = function(f)
    -- Tests of collectives compute nothing, or only fill and check their buffers.
    if f.cluster.ranks > 1 and (f.budget.compute == 0 or f.cluster.efficiency.parallel == 0) then return false, "no kernels compute: the program only communicates" end
    return f.cluster.ranks > 1, "only one rank was recorded"
  end,

  detect = function(f, t)
    if f.cluster.transfer == nil or f.cluster.window == nil then return nil end
    local transfer = share(f.cluster.transfer, f.cluster.window)
    -- Even perfect overlap hides no more than the computing lasts.
    local computing = f.cluster.efficiency.parallel or 1
    local unhidden = share(f.cluster.transferring or 0, f.cluster.window) - computing
    local longer = at_least(unhidden, t.min_unhidden)
    if not longer and not at_least(transfer, t.min_share) then return nil end
    -- Gradients that keep the link busy from the backward pass on: comm/full-link says more.
    if at_least(share(f.cluster.queued or 0, f.cluster.transfer), t.of_queued) then return nil end
    -- Sums inside layers cannot be sent later, in training neither.
    local inside = f.strategy.tensor_lost and f.strategy.tensor_lost.time or 0
    local missing = (f.cluster.missing or 0) > 0
      and " Part of this may be waiting for ranks that have no report." or ""
    return { share = transfer, missing = missing, reason = at_least(share(inside, f.cluster.transfer), t.of_layers) and "layers" or "" }
  end,

  saving = { claims = "cluster.halved_lost", remedy = "cluster.halved_remedy", confidence = 0.4,
             basis = "half of the communication is gone" },

  tests = {
    { name = "ten times as long as computing",
      edges = { ["cluster.transfer"] = 1e9 },
      facts = { cluster = { ranks = 2, transfer = 1.8e9, window = 2e9, halved_lost = 1.8e9, halved_remedy = true } },
      expect = { share = 0.9, reason = "", missing = "" }, saving = { claims = 1.8e9, confidence = 0.4 } },
    { name = "a rank has no report",
      facts = { cluster = { ranks = 3, missing = 1, transfer = 1.8e9, window = 2e9, halved_lost = 1.8e9, halved_remedy = true } },
      expect = { missing = " Part of this may be waiting for ranks that have no report." } },
    { name = "most of it overlaps, and it still takes longer than computing",
      edges = { ["cluster.transferring"] = 1.4e9 },
      facts = { cluster = { ranks = 2, transfer = 7e8, transferring = 1.42e9, window = 2e9, efficiency = { parallel = 0.6 },
                            halved_lost = 7e8, halved_remedy = true } },
      expect = { share = 0.35, reason = "" }, saving = { claims = 7e8, confidence = 0.4 } },
    { name = "near miss: as long as computing, which could hide all of it",
      facts = { cluster = { ranks = 2, transfer = 9e8, transferring = 1e9, window = 2e9, efficiency = { parallel = 0.48 },
                            halved_lost = 9e8, halved_remedy = true } },
      expect = "silent" },
    { name = "near miss: little more than computing hides",
      facts = { cluster = { ranks = 2, transfer = 2e8, transferring = 1.38e9, window = 2e9, efficiency = { parallel = 0.6 },
                            halved_lost = 2e8, halved_remedy = true } },
      expect = "silent" },
    { name = "sums inside split layers",
      facts = { cluster = { ranks = 2, transfer = 1.8e9, window = 2e9, halved_lost = 1.8e9, halved_remedy = true },
                strategy = { tensor_lost = 1.5e9 } },
      expect = { reason = "layers" } },
    { name = "a little more than half of the communication is inside layers",
      facts = { cluster = { ranks = 2, transfer = 1.8e9, window = 2e9, halved_lost = 1.8e9, halved_remedy = true },
                strategy = { tensor_lost = 1e9 } },
      expect = { reason = "layers" } },
    { name = "a little less than half of it",
      facts = { cluster = { ranks = 2, transfer = 1.8e9, window = 2e9, halved_lost = 1.8e9, halved_remedy = true },
                strategy = { tensor_lost = 8e8 } },
      expect = { reason = "" } },
    { name = "near miss: exposed, but shorter than computing",
      facts = { cluster = { ranks = 2, transfer = 8e8, window = 2e9, halved_lost = 8e8, halved_remedy = true } },
      expect = "silent" },
    { name = "near miss: most of it are gradients that keep the link busy from the backward pass on",
      edges = { ["cluster.queued"] = 9e8 },
      facts = { cluster = { ranks = 2, transfer = 1.8e9, queued = 1e9, window = 2e9, halved_lost = 1.8e9, halved_remedy = true } },
      expect = "silent" },
    { name = "near miss: it is waiting for late ranks",
      facts = { cluster = { ranks = 2, transfer = 1e8, window = 2e9, halved_lost = 1e8, halved_remedy = true } },
      expect = "silent" },
    { name = "a test of all-reduces",
      facts = { cluster = { ranks = 4, transfer = 1.8e9, window = 2e9, halved_lost = 1.8e9, halved_remedy = true }, budget = { compute = 0 } },
      expect = "not_applicable" },
    { name = "one rank", facts = { cluster = { ranks = 1 } }, expect = "not_applicable" },
  },
}
