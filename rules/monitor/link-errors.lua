-- A link repeats transfers, again and again: a bad contact, riser or cable. Each repetition takes time, and the link may fail.
return {
  id        = "monitor/link-errors",
  title     = "Have the faulty link repaired: it repeats transfers",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  knowledge = { "K-E1", "K-O7" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "hardware",
  priority  = 55,

  needs      = { "monitor.gpus" },
  optional   = { "monitor.replays.pcie.gpu", "monitor.replays.pcie.count", "monitor.replays.pcie.rate", "monitor.replays.nvlink.gpu",
                 "monitor.replays.nvlink.count", "monitor.replays.nvlink.rate" },
  thresholds = { "min_count", "min_rate" },

  symptom = "{gpu:text} repeated {count:count} transfers over {link:text} while the log was written{rate_text:text}.",
  cause   = "Data that arrives damaged is sent again. A few repeats are normal; many point to a bad contact, riser, cable or slot.",
  fixes   = {
    { reason = "PCIe", action = "Read the link's state and errors, and tell the administrators", snippet = "nvidia-smi -q -d PCIE\nsudo lspci -vv | grep -e LnkSta -e CESta",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "PCIe", action = "Read the link's state and errors, and tell the administrators", snippet = "amd-smi metric --pcie\nsudo lspci -vv | grep -e LnkSta -e CESta",
      language = "bash", ["for"] = { "amd" } },
    { reason = "NVLink", action = "Read the errors of each link, and tell the administrators", snippet = "nvidia-smi nvlink -e", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "A counter that was reset or read wrongly in between.",
  references = { "nvidia/dcgm", "nvidia/smi" },

  applies = function(f)
    if f.monitor.gpus == 0 then return false, "no monitor log was given" end
    local replays = f.monitor.replays
    return replays.pcie.count ~= nil or replays.nvlink.count ~= nil, "no monitor log counts repeated transfers"
  end,

  detect = function(f, t)
    for _, one in ipairs({ { "NVLink", f.monitor.replays.nvlink }, { "PCIe", f.monitor.replays.pcie } }) do
      local link, replays = one[1], one[2]
      if replays.gpu and at_least(replays.count, t.min_count) and (not replays.rate or at_least(replays.rate, t.min_rate)) then
        return { gpu = replays.gpu, count = replays.count, link = link, reason = link,
                 rate_text = replays.rate and " (" .. in_words(replays.rate, "num") .. " per minute)" or "" }
      end
    end
    return nil
  end,

  tests = {
    { name = "PCIe repeats many", edges = { ["monitor.replays.pcie.count"] = 8, ["monitor.replays.pcie.rate"] = 8 },
      facts = { monitor = { gpus = 2, replays = { pcie = { gpu = "GPU 1", count = 400, rate = 40 }, nvlink = {} } } },
      expect = { gpu = "GPU 1", count = 400, link = "PCIe", rate_text = " (40 per minute)" } },
    { name = "NVLink, in a log without a clock", edges = { ["monitor.replays.nvlink.count"] = 8 },
      facts = { monitor = { gpus = 2, replays = { pcie = { count = 0 }, nvlink = { gpu = "GPU 0", count = 90 } } } },
      expect = { gpu = "GPU 0", link = "NVLink", rate_text = "" } },
    { name = "near miss: ten in a day", facts = { monitor = { gpus = 2, replays = { pcie = { gpu = "GPU 1", count = 10, rate = 0.01 }, nvlink = {} } } }, expect = "silent" },
    { name = "near miss: none", facts = { monitor = { gpus = 2, replays = { pcie = { count = 0 }, nvlink = { count = 0 } } } }, expect = "silent" },
    { name = "the log does not count them", facts = { monitor = { gpus = 2, replays = { pcie = {}, nvlink = {} } } }, expect = "not_applicable" },
    { name = "no monitor", facts = { monitor = { gpus = 0 } }, expect = "not_applicable" },
  },
}
