-- Single launches of several kernels take milliseconds longer than usual, each by about as much whatever it computes: the
-- GPU put them aside for a turn of another process. The other process is in no report.
return {
  id        = "host/shared-gpu",
  title     = "Keep other programs off the GPU",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-H7", "K-L9" },

  loss           = "kernel.slices",
  not_applicable = "no kernels stand still as if another process had its turn",
  evidence       = { "count", time = "time" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Single launches of several kernels take {mean:time} longer than the same kernel usually does, on average: {count:count} launches. Together that is {share:pct} of the time.",
  cause   = "Another process probably uses the GPU: the GPU runs one process at a time, and a kernel stands still in the middle while the other process has its turn.",
  fixes   = {
    { action  = "See which processes use the GPU, and start the program on a GPU that is free",
      snippet = "nvidia-smi --query-compute-apps=gpu_uuid,pid,name,used_memory --format=csv\nCUDA_VISIBLE_DEVICES=1 COMMAND",
      language = "bash", ["for"] = { "nvidia" } },
    { action  = "Let the GPU accept one process only, so that others fail to start on it",
      snippet = "sudo nvidia-smi -i 0 --compute-mode=EXCLUSIVE_PROCESS", language = "bash", ["for"] = { "nvidia" } },
    { action = "If several programs must share the GPU, start them under the Multi-Process Service (MPS), or divide the GPU with MIG" },
    { action = "On a workstation, let another GPU drive the display" },
  },
  false_positives = "Kernels that wait for data of the host or of another GPU inside, now and then.",
  references = { "nvidia/smi", "cuda/mps" },

  detect = function(f, t, e)
    e.mean = share(e.time, e.count)
    return e
  end,

  tests = {
    { name = "a neighbor takes turns",
      edges = { ["kernel.slices.count"] = 20, ["kernel.slices.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, kernel = { slices = { count = 150, time = 4.5e8, lost = 4.5e8 } } },
      expect = { share = 0.45, count = 150, mean = 3e6 } },
    { name = "near miss: a display that draws now and then",
      facts = { window = { device_time = 1e9 }, kernel = { slices = { count = 30, time = 9e6, lost = 9e6 } } },
      expect = "silent" },
    { name = "near miss: a few launches",
      facts = { window = { device_time = 1e9 }, kernel = { slices = { count = 12, time = 4e7, lost = 4e7 } } },
      expect = "silent" },
    { name = "launches take what they usually take",
      facts = { window = { device_time = 1e9 }, kernel = { slices = { count = 0, time = 0, lost = 0 } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
