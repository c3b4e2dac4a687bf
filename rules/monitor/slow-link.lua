-- A GPU in use talks to the host by an older generation of PCIe than card and slot could. Only samples of busy GPUs count, since
-- links at rest save power.
return {
  id        = "monitor/slow-link",
  title     = "Find out why a PCIe link came up at an older generation",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  knowledge = { "K-E1", "K-O7" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "hardware",
  priority  = 48,

  needs      = { "monitor.gpus" },
  optional   = { "monitor.generation.gpu", "monitor.generation.now", "monitor.generation.possible" },
  thresholds = {},

  symptom = "{gpu:text} is in use with a link of PCIe generation {now:count}, where generation {possible:count} is possible.",
  cause   = "Bad contact, a riser or a setting of the firmware made the link come up slower. Each generation less halves the rate of copies between host and GPU.",
  fixes   = {
    { action = "Read the link's state and its errors, and tell the administrators",
      snippet = "nvidia-smi -q -d PCIE\nsudo lspci -vv | grep -e LnkCap -e LnkSta", language = "bash", ["for"] = { "nvidia" } },
    { action = "Read what the firmware's settings say of the slot's generation" },
  },
  false_positives = "A generation that was set on purpose, because the slot is not stable at a higher one.",
  references = { "nvidia/smi" },

  applies = function(f)
    if f.monitor.gpus == 0 then return false, "no monitor log was given" end
    return f.monitor.generation.possible ~= nil, "no monitor log tells the generation of the link of a busy GPU"
  end,

  detect = function(f)
    local link = f.monitor.generation
    if not link.gpu then return nil end
    return { gpu = link.gpu, now = link.now, possible = link.possible }
  end,

  tests = {
    { name = "generation 1 of 4", facts = { monitor = { gpus = 2, generation = { gpu = "GPU 1", now = 1, possible = 4 } } }, expect = { gpu = "GPU 1", now = 1, possible = 4 } },
    { name = "near miss: as fast as can be", facts = { monitor = { gpus = 2, generation = { now = 0, possible = 0 } } }, expect = "silent" },
    { name = "the log does not tell", facts = { monitor = { gpus = 2 } }, expect = "not_applicable" },
    { name = "no monitor", facts = { monitor = { gpus = 0 } }, expect = "not_applicable" },
  },
}
