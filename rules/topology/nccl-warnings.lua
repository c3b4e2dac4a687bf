-- NCCL warned. What it warns of is an error or a fallback to a slower way, and no timeline shows the reason.
return {
  id        = "topology/nccl-warnings",
  title     = "Find out why NCCL warns",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  knowledge = { "K-J4" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "limit",

  needs      = { "nccl.warnings" },
  optional   = { "nccl.warning", "nccl.version" },
  thresholds = { "min_count" },

  symptom = "NCCL warned {count:count} times; the first warning: {first:text}",
  cause   = "NCCL warns where a call failed, or where it had to take a slower way: a network plugin that does not load, a card without the right driver, a limit of the system (locked memory, shared memory, open files, a timeout). A job that goes on may stop later.",
  fixes   = {
    { action = "Run once more with NCCL's full log: the messages just before the warning say what it tried",
      snippet = "export NCCL_DEBUG=INFO NCCL_DEBUG_FILE=nccl.%h.%p.log", language = "bash" },
    { action = "Give that log to advise together with the timeline",
      snippet = "advise run.nsys-rep nccl.*.log", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Warnings at the end of a run, when another rank has already stopped.",
  references = { "nccl/environment" },

  applies = function(f) return f.nccl.warnings > 0 or f.nccl.version ~= nil, "no log of NCCL was given" end,

  detect = function(f, t)
    if not at_least(f.nccl.warnings, t.min_count) then return nil end
    return { count = f.nccl.warnings, first = f.nccl.warning or "" }
  end,

  tests = {
    { name = "two warnings",
      edges = { ["nccl.warnings"] = 1 }, facts = { nccl = { warnings = 2, warning = "run.log:7: Call to connect failed" } },
      expect = { count = 2, first = "run.log:7: Call to connect failed" } },
    { name = "near miss: a log without warnings", facts = { nccl = { warnings = 0, version = "2.21.5" } }, expect = "silent" },
    { name = "no log", facts = { nccl = { warnings = 0 } }, expect = "not_applicable" },
  },
}
