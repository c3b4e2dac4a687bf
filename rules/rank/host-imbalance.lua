-- In each step the host of another rank works longest, and all others wait for it: work that is divided unevenly among hosts, or
-- pauses that come on each rank at another time. The mean over the ranks hides it: each of them works little.
return {
  id        = "rank/host-imbalance",
  title     = "Let host code take equally long on all ranks",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 78,
  explains  = { "comm/exposed", "comm/full-link", "comm/mpi-imbalance", "comm/mpi-late-rank", "comm/mpi-exposed", "host/cpu-bound", "rank/straggler", "step/jitter", "step/outlier", "step/periodic-stall" },
  knowledge = { "K-I3", "K-I5" },
  effort    = "code",

  loss       = "rank.imbalance.host",
  evidence   = { "steps", "spread", top = "top_rank" },
  needs      = { "cluster.ranks" },
  optional   = { "rank.imbalance.host.remedy" },
  thresholds = { "min_share", "max_top", "rare" },

  symptom = "In {steps:pct} of the steps, the slowest rank is late because of code on its launching thread. It is not always the same rank: none is the slowest in more than {top:pct} of them. Waiting for it takes {share:pct} of the time.",
  cause   = "{why:text} All ranks wait for the one that works longest.",
  fixes   = {
    { reason = "work", action = "If this work is divided among the ranks, divide it by cost in each step: particles, cells or samples move between ranks" },
    { reason = "pauses", action  = "If the program causes the pauses, let all ranks pause in the same steps, so that the pauses overlap",
      snippet = "gc.disable()\nfor step, batch in enumerate(loader):\n    train(batch)\n    if step % 100 == 0: gc.collect()   # on all ranks in the same step", language = "python", ["for"] = { "python" } },
    { reason = "pauses", action  = "If the program causes the pauses, as output does, let all ranks pause in the same steps, so that the pauses overlap",
      ["for"] = { "c++", "fortran", "openacc", "mpi" } },
    { reason = "pauses", action  = "If nothing in the program explains the pauses, leave a core of each node to the operating system, and bind the ranks to the others",
      snippet = "srun --core-spec=1 --cpu-bind=cores COMMAND", language = "bash" },
    { action  = "Sample the CPU of one rank to see which functions run in its long steps",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree -o cpu -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Move this code to the GPU, or to another thread that works ahead" },
  },
  false_positives = "Nodes that other jobs use now and then.",
  references = { "nccl/collectives" },

  applies = function(f) return f.cluster.ranks > 1, "only one rank was recorded" end,

  -- Work that is divided unevenly shows in most steps. What holds up a rank in a few of them stops it.
  detect = function(_, t, e)
    e.reason, e.why = "work", "The hosts get different amounts of work in a step, or take different times for the same work."
    if at_most(e.steps, t.rare) then
      e.reason, e.why = "pauses", "Now and then, one rank pauses: it collects garbage, writes output, or its node runs something else. Each rank does so in other steps."
    end
    return e
  end,

  saving = { confidence = 0.6, basis = "in each step, no rank's host code takes longer than that of the median rank" },

  tests = {
    { name = "another rank sorts most particles in each step",
      edges = { ["rank.imbalance.host.lost"] = 8e7, ["rank.imbalance.host.top_rank"] = 0.75 },
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                rank = { imbalance = { host = { spread = 0.6, steps = 1, top_rank = 0.26, lost = 1.8e9, remedy = true } } } },
      expect = { share = 0.45, steps = 1, top = 0.26, reason = "work" }, saving = { claims = 1.8e9 } },
    { name = "each rank pauses in other steps, in an eighth of them in all",
      edges = { ["rank.imbalance.host.steps"] = 0.5 },
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                rank = { imbalance = { host = { spread = 0.26, steps = 0.13, top_rank = 0.42, lost = 1.4e9, remedy = true } } } },
      expect = { share = 0.35, reason = "pauses" } },
    { name = "near miss: always the same rank, which is a straggler",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                rank = { imbalance = { host = { spread = 0.2, steps = 0.9, top_rank = 1.0, lost = 4e8, remedy = true } } } },
      expect = "silent" },
    { name = "near miss: uneven, but hardly anybody waits",
      facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 },
                rank = { imbalance = { host = { spread = 0.01, steps = 0.1, top_rank = 0.3, lost = 1e7, remedy = true } } } },
      expect = "silent" },
    { name = "one rank", facts = { cluster = { ranks = 1 } }, expect = "not_applicable" },
    { name = "no steps to compare in", facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 } }, expect = "cannot_tell" },
  },
}
