-- The driver does not reach a GPU any more: it has fallen off the bus. Programs on it fail, and all ranks that wait for it hang.
return {
  id        = "monitor/gpu-lost",
  title     = "Have the lost GPU reset or replaced, and start the job again",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  explains  = { "monitor/stopped-gpu", "monitor/hang", "monitor/uneven-use", "monitor/low-utilisation" },
  knowledge = { "K-O7" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "hardware",
  priority  = 95,

  needs      = { "monitor.gpus", "monitor.lost.count" },
  optional   = { "monitor.lost.gpus", "monitor.lost.after" },
  thresholds = {},

  symptom = "The driver can no longer reach {who:text}{when_text:text}: nvidia-smi prints \"GPU is lost\".",
  cause   = "The GPU has fallen off the PCIe bus. Its work is gone, and every rank that waits for it hangs or fails. Only a reset or a restart of the node brings it back.",
  fixes   = {
    { action = "End the job, and start it again from its last checkpoint on other GPUs" },
    { action = "Tell the administrators the GPU and the time, with what the driver says (Xid 79)", snippet = "dmesg -T | grep -e NVRM -e Xid\nsudo nvidia-bug-report.sh", language = "bash", ["for"] = { "nvidia" } },
    { action = "After a restart of the node, test the board before it gets jobs again", snippet = "dcgmi diag -r 3", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "A GPU that an administrator took out of the driver while the log was written.",
  references = { "nvidia/xid", "nvidia/smi" },

  applies = function(f) return f.monitor.gpus > 0, "no monitor log was given" end,

  detect = function(f)
    if f.monitor.lost.count == 0 then return nil end
    local after = f.monitor.lost.after
    return { who = f.monitor.lost.gpus or "a GPU", when_text = after and after > 0 and ", " .. in_words(after, "time") .. " after the start of the log" or "" }
  end,

  tests = {
    { name = "one of two is gone", facts = { monitor = { gpus = 2, lost = { count = 1, gpus = "GPU 1", after = 3.1e10 } } },
      expect = { who = "GPU 1", when_text = ", 31.0 s after the start of the log" } },
    { name = "gone from the start", facts = { monitor = { gpus = 2, lost = { count = 1, gpus = "GPU 1", after = 0 } } }, expect = { when_text = "" } },
    { name = "near miss: all answer", facts = { monitor = { gpus = 2, lost = { count = 0 } } }, expect = "silent" },
    { name = "no monitor", facts = { monitor = { gpus = 0, lost = { count = 0 } } }, expect = "not_applicable" },
  },
}
