-- The job has more ranks than the report shows GPUs: who waits for whom cannot be told, and a rank that is slow may be
-- one that is missing.
return {
  id        = "capture/some-ranks",
  title     = "Capture all ranks of the job",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  topic     = "missing-ranks",
  knowledge = { "K-I4", "K-I7" },

  needs      = { "run.devices" },
  optional   = { "capture.world_size" },
  thresholds = { "min_missing" },

  symptom = "The job has {world:count} ranks. GPUs in this report: {devices:count}.",
  cause   = "Only some of the ranks were profiled. Which rank the others wait for cannot be seen without the rest.",
  fixes   = {
    { action  = "Profile each rank into its own file, and give all of them to advise",
      snippet = [[srun nsys profile -o report_%q{SLURM_PROCID} -- COMMAND
advise report_*.sqlite]],
      language = "bash", ["for"] = { "nvidia" } },
    { action = "With thousands of ranks, choose an average, a fast and a slow one" },
  },
  false_positives = "A deliberate sample of the ranks.",
  references = { "nsys/user-guide" },

  applies = function(f)
    return f.capture.world_size ~= nil, "the report does not say how many ranks the job has"
  end,

  detect = function(f, t)
    local missing = f.capture.world_size - f.run.devices
    if not at_least(missing, t.min_missing) then return nil end
    return { world = f.capture.world_size, devices = f.run.devices }
  end,

  tests = {
    { name = "one of eight",
      edges = { ["capture.world_size"] = 2 },
      facts = { run = { devices = 1 }, capture = { world_size = 8 } },
      expect = { world = 8, devices = 1 } },
    { name = "near miss: all of them",
      facts = { run = { devices = 8 }, capture = { world_size = 8 } },
      expect = "silent" },
    { name = "not known",
      facts = { run = { devices = 1 } },
      expect = "not_applicable" },
    { name = "no GPU work",
      facts = { capture = { world_size = 8 } },
      expect = "cannot_tell" },
  },
}
