-- Compute kernels take longer while a collective runs beside them: it holds SMs and memory bandwidth.
return {
  id        = "comm/contends-with-compute",
  title     = "Give NCCL fewer SMs, so that it slows compute kernels less",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 50,
  knowledge = { "K-G4", "K-L7", "K-L8" },
  effort    = "flag",

  loss           = "comm.contention",
  applies        = "comm.count",
  not_applicable = "no communication kernels ran",
  evidence       = { "slowdown", "compared" },
  needs          = { "comm.contention.remedy" },
  thresholds     = { "min_slowdown", "min_compared", "min_share" },

  symptom = "The same compute kernels take {slowdown:num} times as long while a collective runs ({compared:count} kernels compared). That is {share:pct} of the time.",
  cause   = "A NCCL kernel occupies SMs for as long as it runs, even while it waits for a late rank. It also shares memory bandwidth with the kernels next to it.",
  fixes   = {
    { action = "Let NCCL use fewer channels, and so fewer SMs; check that the collectives still keep up",
      snippet = "NCCL_MAX_CTAS=8 NCCL_MAX_NCHANNELS=8 COMMAND", language = "bash" },
    { action = "Start collectives when all ranks are ready, so that none of them spins next to compute kernels: balance the ranks first" },
    { action = "If the job script turns NVLink SHARP off, remove that: it reduces in the switch, which takes fewer SMs, and is on by default where the hardware has it",
      snippet = "unset NCCL_NVLS_ENABLE", language = "bash" },
  },
  false_positives = "Kernels of one name and grid whose work differs from call to call, if the longer ones happen to run next to collectives.",
  references = { "nccl/environment", "nccl/troubleshooting" },

  -- Some of it is the price of overlap: at most half is to be won.
  saving = { part = 0.5, confidence = 0.4, basis = "half of the extra time that kernels take next to collectives is gone" },

  tests = {
    { name = "matrix kernels a third slower beside all-reduces",
      edges = { ["comm.contention.compared"] = 50, ["comm.contention.lost"] = 8e7, ["comm.contention.slowdown"] = 1.1 },
      facts = { window = { device_time = 4e9 },
                comm = { count = 160, contention = { slowdown = 1.35, compared = 2000, lost = 4e8, remedy = true } } },
      expect = { slowdown = 1.35, compared = 2000, share = 0.1 }, saving = { claims = 4e8, part = 0.5 } },
    { name = "near miss: four percent slower",
      facts = { window = { device_time = 4e9 },
                comm = { count = 160, contention = { slowdown = 1.04, compared = 2000, lost = 5e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: slower, but of a handful of kernels",
      facts = { window = { device_time = 4e9 },
                comm = { count = 160, contention = { slowdown = 1.5, compared = 12, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "one GPU", facts = { comm = { count = 0 } }, expect = "not_applicable" },
    { name = "nothing runs beside collectives", facts = { window = { device_time = 1e9 }, comm = { count = 10 } }, expect = "cannot_tell" },
  },
}
