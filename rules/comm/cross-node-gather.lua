-- Every layer's weights are gathered across the network, although the node alone could hold a copy of them.
return {
  id        = "comm/cross-node-gather",
  title     = "Shard parameters inside each node and replicate them across nodes",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 69,
  explains  = { "comm/exposed", "comm/full-link", "comm/zero3-overhead" },
  knowledge = { "K-K11", "K-J2" },
  effort    = "flag",

  needs      = { "strategy.zero_stage", "strategy.gather_across_nodes", "strategy.gather_lost", "strategy.data", "cluster.hosts",
                 "window.device_time" },
  optional   = { "strategy.across_lost", "strategy.across_remedy" },
  thresholds = { "min_share" },

  symptom = "Parameters are gathered, and gradients scattered, among {ranks:count} ranks on {hosts:count} nodes. For {share:pct} of the time, nothing else runs.",
  cause   = "The network between nodes is several times slower than the links inside a node. With hierarchical partitioning, each node holds a full copy in shards. Gathers then stay inside the node, and only gradients cross the network.",
  fixes   = {
    { action = "With FSDP, shard inside the node only",
      snippet = "mesh = init_device_mesh(\"cuda\", (nodes, gpus_per_node), mesh_dim_names=(\"replicate\", \"shard\"))\nfully_shard(model, mesh=mesh)   # FSDP1: device_mesh=mesh, sharding_strategy=ShardingStrategy.HYBRID_SHARD",
      language = "python", ["for"] = { "pytorch" } },
    { action = "With DeepSpeed, set the partition size to the number of GPUs per node (ZeRO++ hpZ)",
      snippet = "{ \"zero_optimization\": { \"stage\": 3, \"zero_hpz_partition_size\": 8 } }", language = "json", ["for"] = { "pytorch" } },
    { action = "With JAX, shard parameters along the axis of the mesh that stays inside a node",
      snippet = "mesh = jax.make_mesh((nodes, gpus_per_node), (\"replicate\", \"shard\"))\nparams = jax.device_put(params, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(\"shard\")))",
      language = "python", ["for"] = { "jax" } },
  },
  false_positives = "Models whose shards fill the memory of a node. Their gathers must cross the network.",
  references = { "deepspeed/zeropp", "pytorch/fsdp" },

  applies = function(f)
    if f.strategy.zero_stage ~= 3 then return false, "parameters are not gathered" end
    return f.cluster.hosts > 1, "all ranks are on one node"
  end,

  detect = function(f, t)
    local lost = share(f.strategy.gather_lost.time, f.window.device_time)
    if not f.strategy.gather_across_nodes or not at_least(lost, t.min_share) then return nil end
    local claimed = f.strategy.across_lost and share(f.strategy.across_lost.time, f.window.device_time) or lost
    return { ranks = f.strategy.data, hosts = f.cluster.hosts, share = claimed }
  end,

  saving = function(f)
    return { claims = f.strategy.across_lost or f.strategy.gather_lost, remedy = f.strategy.across_remedy, part = 0.7, confidence = 0.5,
             basis = "exposed gathers and scatters stay inside a node, which is several times faster" }
  end,

  tests = {
    { name = "16 ranks on two nodes gather every layer",
      edges = { ["strategy.gather_lost"] = 8e8 },
      facts = { window = { device_time = 16e9 }, cluster = { hosts = 2 },
                strategy = { zero_stage = 3, gather_across_nodes = true, gather_lost = 4e9, across_lost = 5e9, across_remedy = true, data = 16 } },
      expect = { ranks = 16, hosts = 2, share = 0.3125 }, saving = { claims = 5e9 } },
    { name = "near miss: gathers stay inside the node",
      facts = { window = { device_time = 16e9 }, cluster = { hosts = 2 },
                strategy = { zero_stage = 3, gather_across_nodes = false, gather_lost = 4e9, data = 8 } },
      expect = "silent" },
    { name = "near miss: across nodes, but hidden",
      facts = { window = { device_time = 16e9 }, cluster = { hosts = 2 },
                strategy = { zero_stage = 3, gather_across_nodes = true, gather_lost = 1e8, data = 16 } },
      expect = "silent" },
    { name = "one node", facts = { cluster = { hosts = 1 }, strategy = { zero_stage = 3 } }, expect = "not_applicable" },
    { name = "hosts are not named", facts = { window = { device_time = 1e9 }, strategy = { zero_stage = 3 } }, expect = "cannot_tell" },
  },
}
