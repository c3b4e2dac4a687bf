-- A GPU in use has fewer PCIe lanes than its slot could give, or than the other GPUs of the node have: copies to and from the host
-- take as many times longer. Only samples of busy GPUs count, since links at rest save power.
return {
  id        = "monitor/narrow-link",
  title     = "Have the GPU with a narrow PCIe link reseated or replaced",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  knowledge = { "K-E1", "K-O7" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "hardware",
  priority  = 50,

  needs      = { "monitor.gpus", "monitor.link.lanes", "monitor.link.possible" },
  optional   = { "monitor.link.gpu" },
  thresholds = {},

  symptom = "{gpu:text} is in use with {lanes:count} PCIe lanes, where {possible:count} are possible.",
  cause   = "The card or a riser has a bad contact, the slot has fewer lanes, or the firmware splits them among slots. Copies between host and GPU, and collectives without NVLink, run at a fraction of their rate.",
  fixes   = {
    { action = "Read the link's state and its errors, and tell the administrators",
      snippet = "nvidia-smi -q -d PCIE\nsudo lspci -vv | grep -e LnkCap -e LnkSta", language = "bash", ["for"] = { "nvidia" } },
    { action = "Until it is repaired, leave this GPU out of jobs on several GPUs", snippet = "export CUDA_VISIBLE_DEVICES=0,1,2", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Machines whose slots differ on purpose.",
  references = { "nvidia/smi" },

  applies = function(f) return f.monitor.gpus > 0, "no monitor log was given" end,

  detect = function(f)
    local link = f.monitor.link
    if not link.gpu then return nil end
    return { gpu = link.gpu, lanes = link.lanes, possible = link.possible }
  end,

  tests = {
    { name = "four lanes of sixteen", facts = { monitor = { gpus = 4, link = { gpu = "GPU 3", lanes = 4, possible = 16 } } },
      expect = { gpu = "GPU 3", lanes = 4, possible = 16 } },
    { name = "near miss: all alike", facts = { monitor = { gpus = 4, link = { lanes = 0, possible = 0 } } }, expect = "silent" },
    { name = "no monitor", facts = { monitor = { gpus = 0, link = { lanes = 0, possible = 0 } } }, expect = "not_applicable" },
    { name = "it cannot be seen", facts = { monitor = { gpus = 4 } }, expect = "cannot_tell" },
  },
}
