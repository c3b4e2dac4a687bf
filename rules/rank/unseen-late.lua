-- One rank alone: its collectives take now and then far longer than others of their size. It waits for ranks whose reports
-- were not given, and overlap would not end that.
return {
  id        = "rank/unseen-late",
  title     = "Find out which rank this one waits for",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 75,
  explains  = { "comm/exposed", "comm/serial-gradient-sync", "comm/overlap-disabled" },
  knowledge = { "K-I1", "K-I7" },
  effort    = "code",

  loss           = "rank.unseen",
  applies        = "comm.count",
  not_applicable = "no communication kernels ran",
  needs          = { "rank.unseen.remedy", "cluster.ranks" },
  evidence       = { count = "per_step", "longest" },
  thresholds     = { "min_share" },

  symptom = "Collectives take up to {longest:time} longer than the quick ones of their size, while nothing else runs: {count:count} {per:text}, for {share:pct} of the time.",
  cause   = "A collective ends when the last rank has come. This report holds one rank, so it does not show which one is late, or why.",
  fixes   = {
    { action  = "Profile each rank into its own file, and give all of them to advise",
      snippet = "srun nsys profile -o report_%q{SLURM_PROCID} -- COMMAND\nadvise report_*.sqlite", language = "bash", ["for"] = { "nvidia" } },
    { action = "Look for what one rank does alone: logging, checkpoints, evaluation, larger batches, a slower GPU or host" },
  },
  false_positives = "Exchanges that move more in some steps, links that other jobs use, or compute that slows collectives next to it.",
  references = { "nccl/collectives", "nsys/user-guide" },

  saving = { confidence = 0.5, basis = "the ranks come to each collective together" },

  tests = {
    { name = "a fifth of the time",
      edges = { ["rank.unseen.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 }, comm = { count = 100 }, cluster = { ranks = 1 },
                rank = { unseen = { per_step = 2, longest = 12e6, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, longest = 12e6 }, saving = { claims = 2e8, confidence = 0.5 } },
    { name = "near miss: collectives differ a little",
      facts = { window = { device_time = 1e9 }, comm = { count = 100 }, cluster = { ranks = 1 },
                rank = { unseen = { per_step = 2, longest = 1e6, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "one GPU", facts = { window = { device_time = 1e9 }, comm = { count = 0 }, rank = { unseen = { lost = 0 } } }, expect = "not_applicable" },
    { name = "several ranks, which tell it themselves", facts = { window = { device_time = 1e9 }, cluster = { ranks = 4 }, comm = { count = 100 } }, expect = "cannot_tell" },
  },
}
