-- The driver reported an error of a GPU, of its memory, of a link or of its firmware (Xid). Most of these end the job, and some come
-- again until the board is reset or replaced.
return {
  id        = "monitor/driver-errors",
  title     = "Have the GPU checked: the driver reported an error on it",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  knowledge = { "K-O7" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "hardware",
  priority  = 92,

  needs      = { "monitor.gpus" },
  optional   = { "monitor.xid.board.code", "monitor.xid.board.gpus", "monitor.xid.board.kind", "monitor.xid.board.says", "monitor.xid.board.others" },
  thresholds = {},

  symptom = "The driver reported Xid {code:num} on {who:text}: {what:text}.{others_text:text}",
  cause   = "This Xid stands for a fault of the hardware or the driver, not of the program. Work on the GPU was lost, or will be lost when the error comes back.",
  fixes   = {
    { action = "Read the driver's messages around the error, and tell the administrators the Xid, the GPU and the time",
      snippet = "dmesg -T | grep -e NVRM -e Xid\nnvidia-smi -q -d ECC,ROW_REMAPPER,PERFORMANCE", language = "bash", ["for"] = { "nvidia" } },
    { reason = "memory", action = "Once no job uses it, reset the GPU: faulty rows of memory are replaced then", snippet = "sudo nvidia-smi --gpu-reset -i 0",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "link", action = "Look at the errors of each NVLink, and at the log of the fabric manager", snippet = "nvidia-smi nvlink -e", language = "bash", ["for"] = { "nvidia" } },
    { reason = "board", action = "Test the board before it gets jobs again", snippet = "dcgmi diag -r 3", language = "bash", ["for"] = { "nvidia" } },
    { reason = "driver", action = "Compare the driver's version with the newest one of its branch, and reset the GPU" },
    { action = "Rerun on another GPU what ran on this one at that time, and compare the results" },
  },
  false_positives = "An error of an earlier job. A monitor repeats the last number until the driver is loaded again.",
  references = { "nvidia/xid" },

  applies = function(f) return f.monitor.xid.board.code ~= nil, "no log tells of errors that the driver reports" end,

  detect = function(f)
    local xid = f.monitor.xid.board
    if xid.code == 0 then return nil end
    return { code = xid.code, who = xid.gpus or "a GPU", what = xid.says or "NVIDIA's list of such numbers says what it means", reason = xid.kind or "unknown",
             others_text = xid.others and " It also reported " .. xid.others .. "." or "" }
  end,

  tests = {
    { name = "off the bus", facts = { monitor = { gpus = 4, xid = { board = { code = 79, gpus = "GPU 3", kind = "board", says = "the GPU can no longer be reached over PCIe" } } } },
      expect = { code = 79, who = "GPU 3", what = "the GPU can no longer be reached over PCIe", reason = "board" } },
    { name = "two sorts of errors", facts = { monitor = { gpus = 0, xid = { board = { code = 79, gpus = "GPU 0", kind = "board", says = "the GPU can no longer be reached over PCIe", others = "Xid 94 of GPU 0 (a memory error could not be corrected)" } } } },
      expect = { code = 79, others_text = " It also reported Xid 94 of GPU 0 (a memory error could not be corrected)." } },
    { name = "a number that nobody knows", facts = { monitor = { gpus = 4, xid = { board = { code = 999, gpus = "GPU 3" } } } }, expect = { reason = "unknown" } },
    { name = "near miss: no error", facts = { monitor = { gpus = 4, xid = { board = { code = 0 } } } }, expect = "silent" },
    { name = "no log tells", facts = { monitor = { gpus = 2, xid = { board = {} } } }, expect = "not_applicable" },
  },
}
