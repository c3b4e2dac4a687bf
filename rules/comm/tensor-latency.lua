-- Layers are split over GPUs, and each part of a layer ends in a small all-reduce, which takes as long as NCCL needs for the
-- smallest one. The next kernel needs the sum, so nothing can hide it, and nothing larger can be sent instead.
return {
  id        = "comm/tensor-latency",
  title     = "Use a one-shot all-reduce for tensor parallelism",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 77,
  explains  = { "comm/exposed", "comm/full-link", "comm/dominates", "comm/small-messages", "launch/tiny-kernels" },
  knowledge = { "K-K8", "K-K2" },
  effort    = "flag",

  needs      = { "cluster.ranks", "window.device_time" },
  optional   = { "strategy.latency_lost", "strategy.latency_remedy", "strategy.tensor_call", "strategy.tensor" },
  thresholds = { "min_share" },

  symptom = "The layers are split over {ranks:count} GPUs, and each part of a layer ends in an all-reduce of {call:time} (median). A one-shot all-reduce takes a few microseconds. The difference is {share:pct} of the time.",
  cause   = "NCCL's latency takes all the time of such an all-reduce, and the next kernel waits for it: for a few tokens, it carries some kilobytes. A one-shot kernel reads the memory of its peers directly and takes 4 to 12 µs.",
  fixes   = {
    { action = "Check that nothing turns the engine's own all-reduce off: the option below, or GPUs without peer-to-peer access",
      snippet = "vllm serve MODEL --tensor-parallel-size 2   # remove --disable-custom-all-reduce (SGLang: the same option)",
      language = "bash", ["for"] = { "inference" } },
    { action = "In your own code, use PyTorch's symmetric memory",
      snippet = [[import torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
group = dist.group.WORLD.group_name
buffer = symm_mem.empty(tokens, hidden, dtype=torch.bfloat16, device="cuda")   # once
symm_mem.rendezvous(buffer, group)                                           # once
torch.ops.symm_mem.one_shot_all_reduce(buffer, "sum", group)                 # instead of dist.all_reduce]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "Use fewer GPUs per tensor-parallel group if the model fits, or serve more requests at a time: each sum then carries more" },
  },
  false_positives = "GPUs without peer-to-peer access: there, a one-shot all-reduce does not work.",
  references = { "nccl/collectives" },

  applies = function(f) return f.cluster.ranks > 1, "only one rank was recorded" end,

  detect = function(f, t)
    local s = f.strategy
    if not s.latency_lost or not s.tensor_call then return nil end
    local lost = share(s.latency_lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    return { ranks = s.tensor, call = s.tensor_call, share = lost }
  end,

  saving = { claims = "strategy.latency_lost", remedy = "strategy.latency_remedy", confidence = 0.5,
             basis = "each small all-reduce runs in one shot" },

  tests = {
    { name = "tokens of two GPUs, 34 us a sum",
      edges = { ["strategy.latency_lost"] = 1.2e6 },
      facts = { window = { device_time = 4e7 }, cluster = { ranks = 2 },
                strategy = { tensor = 2, tensor_call = 34e3, latency_lost = 1.2e7, latency_remedy = true } },
      expect = { ranks = 2, call = 34e3, share = 0.3 }, saving = { claims = 1.2e7, confidence = 0.5 } },
    { name = "near miss: the sums are nearly as fast as one kernel",
      facts = { window = { device_time = 4e7 }, cluster = { ranks = 2 },
                strategy = { tensor = 2, tensor_call = 9e3, latency_lost = 8e5, latency_remedy = true } },
      expect = "silent" },
    { name = "near miss: the sums are long, and bound by the links",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 2 },
                strategy = { tensor = 2, tensor_call = 2e6, latency_lost = 0, latency_remedy = true } },
      expect = "silent" },
    { name = "near miss: no layers are shared", facts = { window = { device_time = 4e9 }, cluster = { ranks = 2 } }, expect = "silent" },
    { name = "one rank", facts = { cluster = { ranks = 1 } }, expect = "not_applicable" },
  },
}
