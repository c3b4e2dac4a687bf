-- Many opens and look-ups of files a step, while the GPU waits for data: on a shared file system each is a request to a
-- server that all jobs of the cluster share.
return {
  id        = "input/many-files",
  title     = "Read samples from fewer, larger files",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "design",
  priority  = 57,
  explains  = { "input/starved", "input/storage-bound" },
  knowledge = { "K-N5", "K-H20" },

  loss       = "input",
  evidence   = { count = "os.open.per_step" },
  needs      = { "capture.has_os_calls" },
  thresholds = { "min_share", "min_per_step" },

  symptom = "The program opens or looks up {count:count} files {per:text}, and the GPU waits {share:pct} of the time for data.",
  cause   = "Each sample is its own file, and on a shared file system, each open is a request to a server that all jobs use.",
  fixes   = {
    { action  = "Pack samples into shards",
      snippet = [[# WebDataset: tar files of some hundred megabytes, read from start to end
dataset = wds.WebDataset("shards/train-{000000..000255}.tar")]],
      language = "python", ["for"] = { "python" } },
    { action = "Use HDF5, LMDB, Parquet or TFRecord files that are opened once" },
    { action = "Copy the data set to local storage or memory before the run" },
  },
  false_positives = "Very large samples.",
  references = { "pytorch/dataloader-workers" },

  applies = function(f)
    if not f.capture.has_os_calls then return false, "operating-system calls were not recorded" end
    return f.os.open.per_step > 0, "no files are opened in the loop"
  end,

  detect = function(f, t, e)
    if not at_least(e.count, t.min_per_step) then return nil end
    return e
  end,

  saving = { confidence = 0.4, basis = "the data arrives in time" },

  tests = {
    { name = "a file for each image",
      edges = { ["input.lost"] = 5e7, ["os.open.per_step"] = 100 },
      facts = { window = { device_time = 1e9 }, os = { open = { per_step = 512 } }, input = { lost = 3e8, remedy = true }, capture = { has_os_calls = true } },
      expect = { share = 0.3, count = 512 },
      saving = { claims = 3e8 } },
    { name = "near miss: shards",
      facts = { window = { device_time = 1e9 }, os = { open = { per_step = 4 } }, input = { lost = 3e8, remedy = true }, capture = { has_os_calls = true } },
      expect = "silent" },
    { name = "near miss: the GPU does not wait",
      facts = { window = { device_time = 1e9 }, os = { open = { per_step = 512 } }, input = { lost = 1e7, remedy = true }, capture = { has_os_calls = true } },
      expect = "silent" },
    { name = "no files",
      facts = { window = { device_time = 1e9 }, os = { open = { per_step = 0 } }, input = { lost = 3e8, remedy = true }, capture = { has_os_calls = true } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
