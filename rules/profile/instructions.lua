-- The source page of Nsight Compute: where the warps of a kernel were when they were sampled.
return {
  id        = "profile/instructions",
  title     = "Look at the instructions that most samples are in",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  priority  = 5,
  knowledge = { "K-A7" },
  effort    = "code",
  observed  = "measured",

  needs      = { "totals.instructions.samples", "totals.instructions.rows" },
  optional   = { "window.device_time" },
  thresholds = { "min_share" },

  symptom = "{share:pct} of {samples:count} samples of the warps are at {name:text}. Instructions with {least:pct} or more each: {many:count}.",
  cause   = "Warps are sampled where they wait as well as where they issue: the instruction that many samples are at often waits for a load a few lines above.",
  fixes   = {
    { action = "Find the load that this instruction waits for, and issue it earlier or make it cheaper" },
    { action = "Print the counters of the kernel, which say what limits it",
      snippet = "ncu --import REPORT.ncu-rep > kernel.txt\nadvise kernel.txt", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "A kernel whose waits are spread evenly over its instructions.",
  references = { "nsys/user-guide" },

  applies = function(f)
    if f.window.device_time ~= nil then return false, "the timeline tells more" end
    return f.totals.instructions.samples > 0, "no samples of instructions were given"
  end,

  detect = function(f, t)
    local rows = filter(f.totals.instructions.rows, function(row) return at_least(row.share, t.min_share) end)
    if #rows == 0 then return nil end
    return { samples = f.totals.instructions.samples, name = rows[1].name, share = rows[1].share, many = #rows, least = t.min_share, rows = rows }
  end,

  tests = {
    { name = "a multiplication that waits for its load",
      edges = { ["totals.instructions.rows[1].share"] = 0.05 },
      facts = { totals = { instructions = { samples = 1000, rows = { { name = "FFMA R1, R2, R3, R1", share = 0.4 }, { name = "MOV R1, R2", share = 0.01 } } } } },
      expect = { name = "FFMA R1, R2, R3, R1", share = 0.4, many = 1, rows = 1 } },
    { name = "near miss: spread over many", facts = { totals = { instructions = { samples = 1000, rows = { { name = "MOV R1, R2", share = 0.01 } } } } }, expect = "silent" },
    { name = "beside a timeline", facts = { window = { device_time = 1e9 }, totals = { instructions = { samples = 1000, rows = {} } } }, expect = "not_applicable" },
    { name = "no source page", facts = { totals = { instructions = { samples = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
