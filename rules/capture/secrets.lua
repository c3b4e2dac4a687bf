-- The report carries the environment of the program, and some of it looks like keys or passwords. Names are shown, never values.
return {
  id        = "capture/secrets",
  title     = "Remove secrets before you share this report",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-I7" },
  effort    = "flag",

  needs      = {},
  optional   = { "capture.secrets", "capture.secret_names" },
  thresholds = { "min_count" },

  symptom = "The report probably holds keys or passwords ({count:count} environment values): {names:text}.",
  cause   = "The profiler stores the environment of the program, including access tokens.",
  fixes   = {
    { action = "Share a scrubbed copy; the .nsys-rep file still holds everything",
      snippet = "advise scrub report.sqlite -o clean.sqlite", language = "bash" },
    { action = "If someone else already has the report, revoke the keys and make new ones" },
    { action = "Next time, start the profiler without them, and have the program read its keys from a file",
      snippet = "env -u WANDB_API_KEY -u HF_TOKEN nsys profile -o report -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Names that only look like secrets, such as the path of a key file.",
  references = { "nsys/user-guide" },

  applies = function(f) return f.capture.secrets ~= nil, "the report holds no environment" end,

  detect = function(f, t)
    if not at_least(f.capture.secrets, t.min_count) then return nil end
    return { count = f.capture.secrets, names = f.capture.secret_names or "names not known" }
  end,

  tests = {
    { name = "two tokens in the environment",
      edges = { ["capture.secrets"] = 1 },
      facts = { capture = { secrets = 2, secret_names = "HF_TOKEN, WANDB_API_KEY" } },
      expect = { count = 2, names = "HF_TOKEN, WANDB_API_KEY" } },
    { name = "near miss: an environment without secrets", facts = { capture = { secrets = 0 } }, expect = "silent" },
    { name = "no environment in the report", facts = {}, expect = "not_applicable" },
  },
}
