-- The all-reduces inside layers cross the network: tensor parallelism belongs inside a node.
return {
  id        = "comm/tensor-parallel-across-nodes",
  title     = "Keep tensor-parallel groups inside a node",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 74,
  explains  = { "comm/exposed", "comm/full-link", "comm/small-messages" },
  knowledge = { "K-K8", "K-J2" },
  effort    = "flag",

  needs      = { "strategy.tensor", "strategy.tensor_across_nodes", "strategy.tensor_lost", "cluster.hosts", "window.device_time" },
  optional   = { "strategy.tensor_remedy" },
  thresholds = { "min_share" },

  symptom = "Groups of {ranks:count} tensor-parallel ranks span nodes. For {share:pct} of the time, only their all-reduces run.",
  cause   = "Each layer waits for two all-reduces in the forward pass and two in the backward pass, with nothing to overlap them with. Inside a node they use NVLink; between nodes they use a network that is several times slower.",
  fixes   = {
    { action = "Set the tensor-parallel size to at most the GPUs of a node, and use pipeline or sharded data parallelism between nodes",
      snippet = "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 2", language = "bash" },
    { action = "Number the ranks so that each group is on one node",
      snippet = "srun --distribution=block:block --ntasks-per-node=4 COMMAND", language = "bash" },
  },
  false_positives = "Machines in which NVLink spans several hosts.",
  references = { "megatron/parallelism", "nccl/collectives" },

  applies = function(f)
    if f.strategy.tensor < 2 then return false, "no tensor parallelism was found" end
    return f.cluster.hosts > 1, "all ranks are on one node"
  end,

  detect = function(f, t)
    local lost = share(f.strategy.tensor_lost.time, f.window.device_time)
    if not f.strategy.tensor_across_nodes or not at_least(lost, t.min_share) then return nil end
    return { ranks = f.strategy.tensor, share = lost }
  end,

  saving = { claims = "strategy.tensor_lost", remedy = "strategy.tensor_remedy", part = 0.7, confidence = 0.5,
             basis = "exposed tensor-parallel transfers stay inside a node, which is several times faster" },

  tests = {
    { name = "8 ranks on two nodes share each layer",
      edges = { ["strategy.tensor_lost"] = 4e8 },
      facts = { window = { device_time = 8e9 }, cluster = { hosts = 2 },
                strategy = { tensor = 8, tensor_across_nodes = true, tensor_lost = 2e9, tensor_remedy = true } },
      expect = { ranks = 8, share = 0.25 }, saving = { claims = 2e9 } },
    { name = "near miss: groups of four inside each node",
      facts = { window = { device_time = 8e9 }, cluster = { hosts = 2 },
                strategy = { tensor = 4, tensor_across_nodes = false, tensor_lost = 1e9, tensor_remedy = true } },
      expect = "silent" },
    { name = "near miss: across nodes, at no cost",
      facts = { window = { device_time = 8e9 }, cluster = { hosts = 2 },
                strategy = { tensor = 8, tensor_across_nodes = true, tensor_lost = 5e7, tensor_remedy = true } },
      expect = "silent" },
    { name = "no tensor parallelism", facts = { strategy = { tensor = 1 }, cluster = { hosts = 2 } }, expect = "not_applicable" },
    { name = "one rank", facts = {}, expect = "cannot_tell" },
  },
}
