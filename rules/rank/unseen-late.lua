-- Collectives take far longer than others of their size, on all ranks that have a report. They wait for ranks whose reports
-- were not given, and neither overlap nor a faster path would end that.
return {
  id        = "rank/unseen-late",
  title     = "Find out which rank the others wait for",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 75,
  explains  = { "comm/exposed", "comm/full-link", "comm/serial-gradient-sync", "comm/overlap-disabled", "comm/dominates" },
  knowledge = { "K-I1", "K-I7" },
  effort    = "code",

  needs      = { "cluster.ranks", "window.device_time" },
  optional   = { "comm.count", "rank.unseen.lost", "rank.unseen.remedy", "rank.unseen.longest", "rank.unseen.by_places",
                 "rank.absent.lost", "rank.absent.remedy", "rank.absent.longest", "rank.absent.by_places" },
  thresholds = { "min_share" },

  symptom = "Some collectives take up to {longest:time} longer than fast ones {like:text}. For {share:pct} of the time, nothing else runs meanwhile.",
  cause   = "{reports:text}: what makes the last rank late is not in {it:text}.{hedge:text}",
  fixes   = {
    { action  = "Profile each rank into its own file, and give all of them to advise",
      snippet = "srun nsys profile -o report_%q{SLURM_PROCID} -- COMMAND\nadvise report_*.sqlite", language = "bash", ["for"] = { "nvidia" } },
    { action = "Look for what one rank does alone: logging, checkpoints, evaluation, larger batches, a slower GPU or host" },
  },
  false_positives = "Exchanges that move more in some steps, links that other jobs use, or compute that slows collectives next to it.",
  references = { "nccl/collectives", "nsys/user-guide" },

  applies = function(f) return f.comm.count ~= 0, "no communication kernels ran" end,

  detect = function(f, t)
    local waits = f.cluster.ranks > 1 and f.rank.absent or f.rank.unseen
    if not waits.lost then return nil end
    local part = share(waits.lost.time, f.window.device_time)
    if not at_least(part, t.min_share) then return nil end
    return {
      longest = waits.longest, share = part,
      like    = waits.by_places and "in the same step" or "of their size",
      reports = f.cluster.ranks > 1 and "All of these ranks wait for one that has no report" or "This report holds one rank, which waits for others",
      it      = f.cluster.ranks > 1 and "these reports" or "it",
      hedge   = waits.by_places and " The report does not say how much a collective sends: if the slow ones send many times as much, the time is theirs." or "",
    }
  end,

  saving = function(f, _, e)
    local waits = f.cluster.ranks > 1 and f.rank.absent or f.rank.unseen
    return { claims = waits.lost, remedy = waits.remedy, confidence = e.hedge == "" and 0.5 or 0.35,
             basis = "the ranks come to each collective together" }
  end,

  tests = {
    { name = "a fifth of the time",
      edges = { ["rank.unseen.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 }, comm = { count = 100 }, cluster = { ranks = 1 },
                rank = { unseen = { by_places = false, longest = 12e6, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, longest = 12e6, like = "of their size", reports = "This report holds one rank, which waits for others", hedge = "" },
      saving = { claims = 2e8, confidence = 0.5 } },
    { name = "sizes are not known, and one collective per step stands out",
      facts = { window = { device_time = 1e9 }, comm = { count = 100 }, cluster = { ranks = 1 },
                rank = { unseen = { by_places = true, longest = 12e6, lost = 2e8, remedy = true } } },
      expect = { like = "in the same step",
                 hedge = " The report does not say how much a collective sends: if the slow ones send many times as much, the time is theirs." },
      saving = { claims = 2e8, confidence = 0.35 } },
    { name = "four of eight ranks, which all wait",
      edges = { ["rank.absent.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 }, comm = { count = 100 }, cluster = { ranks = 4 },
                rank = { absent = { by_places = false, longest = 40e6, lost = 4e8, remedy = true } } },
      expect = { share = 0.4, longest = 40e6, reports = "All of these ranks wait for one that has no report" }, saving = { claims = 4e8, confidence = 0.5 } },
    { name = "near miss: collectives differ a little",
      facts = { window = { device_time = 1e9 }, comm = { count = 100 }, cluster = { ranks = 1 },
                rank = { unseen = { by_places = false, longest = 1e6, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: all ranks have a report",
      facts = { window = { device_time = 1e9 }, comm = { count = 100 }, cluster = { ranks = 4 },
                rank = { absent = { by_places = false, longest = 0, lost = 0, remedy = true } } },
      expect = "silent" },
    { name = "one GPU", facts = { window = { device_time = 1e9 }, comm = { count = 0 }, cluster = { ranks = 1 } }, expect = "not_applicable" },
  },
}
