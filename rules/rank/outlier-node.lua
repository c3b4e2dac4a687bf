-- All ranks of one host are slower than every rank of the others: something is wrong with the node, not with a rank.
return {
  id        = "rank/outlier-node",
  title     = "Check the slow node that all others wait for",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 84,
  explains  = { "rank/straggler", "rank/compute-imbalance", "rank/input-imbalance", "comm/exposed", "comm/full-link", "launch/slow-calls" },
  knowledge = { "K-I4", "K-I1" },
  effort    = "design",

  needs      = { "cluster.ranks", "rank.node.name", "rank.node.ranks", "rank.node.excess", "rank.node.cause", "rank.node.lost",
                 "window.device_time" },
  optional   = { "rank.node.remedy" },
  thresholds = { "min_excess", "min_share" },

  symptom = "The {ranks:count} ranks on {node:text} are slower than every other rank, by {excess:pct}. The others wait {share:pct} of the time for them.",
  cause   = "The reason they are slower: {what:text}. All ranks on the node share this, so the node itself is the likely cause: its power limit, temperature, storage, other users, or the cores given to the job.",
  fixes   = {
    { reason = "cpu", action = "Look at the clocks of the processor and what else uses its cores, on that node and on another one",
      snippet = "grep MHz /proc/cpuinfo | sort -k4n | head -3\ncat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor   # performance, not powersave\ntop -b -n1 | head -20\ntaskset -cp $$                                            # cores of the job",
      language = "bash" },
    { reason = "node", action = "Look at clocks, temperature and power limits of the GPUs of that node",
      snippet = "nvidia-smi --query-gpu=index,clocks.sm,clocks.max.sm,temperature.gpu,power.draw,power.limit,clocks_event_reasons.active --format=csv",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "node", action = "Look for other jobs, and for the cores and memory that the job got there",
      snippet = "top -b -n1 | head -20\ntaskset -cp $$", language = "bash" },
    { action = "Exclude the node and report it to the operators",
      snippet = "#SBATCH --exclude=NODE", language = "bash" },
  },
  false_positives = "A pipeline stage, or a larger share of the data, that was given to this node on purpose.",
  references = { "nccl/collectives" },

  applies = function(f) return f.cluster.ranks > 1, "only one rank was recorded" end,

  detect = function(f, t)
    local node = f.rank.node
    if node.ranks == 0 then return nil end
    local lost = share(node.lost.time, f.window.device_time)
    if not at_least(node.excess, t.min_excess) or not at_least(lost, t.min_share) then return nil end
    -- The time is a mean over all GPUs, and only those of the other nodes wait.
    local others = f.cluster.ranks - node.ranks
    local waited = others > 0 and lost * f.cluster.ranks / others or lost
    return { node = node.name, ranks = node.ranks, excess = node.excess, share = waited, what = node.cause,
             reason = node.cause and contains(node.cause, "kernel launch takes") and "cpu" or "node" }
  end,

  saving = { claims = "rank.node.lost", remedy = "rank.node.remedy", confidence = 0.7,
             basis = "the node is as fast as the slowest rank elsewhere" },

  tests = {
    { name = "four ranks of node17 run at lower clocks",
      edges = { ["rank.node.excess"] = 0.03, ["rank.node.lost"] = 1.6e8 },
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 },
                rank = { node = { name = "node17", ranks = 4, excess = 0.25, cause = "the same kernels run more slowly there", lost = 8e8, remedy = true } } },
      expect = { node = "node17", ranks = 4, excess = 0.25, share = 0.2 }, saving = { claims = 8e8 } },
    { name = "the processors of node002 save power",
      facts = { window = { device_time = 16e9 }, cluster = { ranks = 16 },
                rank = { node = { name = "node002", ranks = 8, excess = 0.6, lost = 4.8e9, remedy = true,
                                  cause = "each kernel launch takes 21.5 µs there, and 4.30 µs on other ranks (slow or shared cores)" } } },
      expect = { node = "node002", ranks = 8, share = 0.6, reason = "cpu" } },
    { name = "near miss: one node is slower by a hair",
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 },
                rank = { node = { name = "node17", ranks = 4, excess = 0.01, cause = "", lost = 8e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: slow ranks are spread over the nodes",
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 },
                rank = { node = { name = "", ranks = 0, excess = 0, cause = "", lost = 0, remedy = true } } },
      expect = "silent" },
    { name = "one rank", facts = { cluster = { ranks = 1 } }, expect = "not_applicable" },
    { name = "all ranks on one host", facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 } }, expect = "cannot_tell" },
  },
}
