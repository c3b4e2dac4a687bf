-- Ranks compute for different times, now this one longer, now that one: uneven batches or uneven shares of the model.
return {
  id        = "rank/compute-imbalance",
  title     = "Give all ranks equal work in each step",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 77,
  explains  = { "comm/exposed", "step/jitter", "step/outlier" },
  knowledge = { "K-I3", "K-I5" },
  effort    = "code",

  loss       = "rank.imbalance.compute",
  evidence   = { "steps", "spread", top = "top_rank" },
  needs      = { "cluster.ranks" },
  optional   = { "rank.imbalance.compute.remedy", "rank.imbalance.compute.behind", "run.languages" },
  thresholds = { "max_behind", "min_share" },

  symptom = "In {steps:pct} of the steps, one rank computes longer than the others, not always the same one ({top:pct} of them the same). The slowest is {spread:pct} of a step behind the median, and these delays add up to {share:pct} of the time.",
  cause   = "{why:text}",
  fixes   = {
    { action = "Bucket samples by length, so that all ranks get similar batches in the same step", ["for"] = { "python" } },
    { action = "Fill batches by tokens instead of by samples, or pack several short sequences into one", ["for"] = { "python" } },
    { action = "Divide the problem by cost, not by cells, and move work between ranks when costs change", ["for"] = { "c++", "fortran", "openacc", "mpi" } },
    { action = "With experts, limit the tokens per expert and balance the router",
      snippet = "aux_loss = load_balancing_loss(router_logits)   # and a capacity factor near 1", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "GPUs of different models, or clocks that change during the run.",
  references = { "pytorch/ddp", "nccl/collectives" },

  applies = function(f) return f.cluster.ranks > 1, "one rank only" end,

  -- A rank that is behind in each step by about as much is a straggler.
  detect = function(f, t, e)
    if not at_most(f.rank.imbalance.compute.behind or 1, t.max_behind) then return nil end
    local python = not f.run.languages or contains(f.run.languages, "Python")
    e.why = python
      and "Batches contain different amounts of work on different ranks: sequences of different length, or experts that get different numbers of tokens."
      or "The parts of the problem cost different amounts of work, and not always on the same rank: particles, cells or iterations move between ranks."
    return e
  end,

  saving = { confidence = 0.6, basis = "the ranks share the same work equally" },

  tests = {
    { name = "sequences of different length on 8 ranks",
      edges = { ["rank.imbalance.compute.lost"] = 1.6e8 },
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 },
                rank = { imbalance = { compute = { spread = 0.15, steps = 0.9, top_rank = 0.2, behind = 0, lost = 8e8, remedy = true } } } },
      expect = { share = 0.1, steps = 0.9, top = 0.2, spread = 0.15 }, saving = { claims = 8e8 } },
    { name = "a solver has no batches",
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 }, run = { languages = "MPI, CUDA C++" },
                rank = { imbalance = { compute = { spread = 0.15, steps = 0.9, top_rank = 0.2, behind = 0, lost = 8e8, remedy = true } } } },
      expect = { why = "The parts of the problem cost different amounts of work, and not always on the same rank: particles, cells or iterations move between ranks." } },
    { name = "of two ranks one has the longer batches more often, by chance",
      facts = { window = { device_time = 6e9 }, cluster = { ranks = 2 },
                rank = { imbalance = { compute = { spread = 0.57, steps = 1, top_rank = 0.77, behind = 0.55, lost = 1.7e9, remedy = true } } } },
      expect = { top = 0.77 } },
    { name = "near miss: always the same rank, which is a straggler",
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 },
                rank = { imbalance = { compute = { spread = 0.3, steps = 1, top_rank = 1, behind = 1, lost = 8e8, remedy = true } } } },
      expect = "silent" },
    { name = "near miss: the usual small differences",
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 },
                rank = { imbalance = { compute = { spread = 0.01, steps = 0.6, top_rank = 0.2, behind = 0, lost = 6e7, remedy = true } } } },
      expect = "silent" },
    { name = "one rank", facts = { cluster = { ranks = 1 } }, expect = "not_applicable" },
    { name = "no steps to compare in", facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 } }, expect = "cannot_tell" },
  },
}
