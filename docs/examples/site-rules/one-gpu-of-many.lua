-- Job policy: GPUs that a job does not use belong to others. Sees the GPUs that the report lists, which are those of the job
-- when the scheduler hides the rest.
return {
  id        = "site/one-gpu-of-many",
  title     = "Ask for the GPUs that the job uses",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",

  needs      = { "run.devices", "run.devices_listed" },
  thresholds = { "min_unused" },

  symptom = "The job holds {listed:count} GPUs and uses {used:count}.",
  cause   = "The program was written for one GPU, or only one process was started.",
  fixes   = {
    { action = "Ask for one GPU", snippet = "#SBATCH --gpus=1", language = "bash" },
    { action = "Or start a process for each GPU", snippet = "torchrun --nproc-per-node=4 train.py", language = "bash" },
  },
  false_positives = "A report of one rank of a job with several.",

  applies = function(f) return f.run.devices_listed > 1, "the job holds one GPU" end,

  detect = function(f, t)
    if not at_least(f.run.devices_listed - f.run.devices, t.min_unused) then return nil end
    return { listed = f.run.devices_listed, used = f.run.devices }
  end,

  tests = {
    { name = "one of four", facts = { run = { devices = 1, devices_listed = 4 } }, expect = { listed = 4, used = 1 } },
    { name = "near miss: all of them", facts = { run = { devices = 4, devices_listed = 4 } }, expect = "silent" },
    { name = "one GPU", facts = { run = { devices = 1, devices_listed = 1 } }, expect = "not_applicable" },
  },
}
