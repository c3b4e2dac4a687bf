-- The kernel's log tells of a link that failed: an NVSwitch (SXid), the cable or transceiver of a network port, or PCIe. All ranks whose
-- traffic goes over it fail, hang or run slower.
return {
  id        = "monitor/broken-links",
  title     = "Have the broken link repaired that the Linux kernel log names",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  knowledge = { "K-O7", "K-J6" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "hardware",
  priority  = 91,

  needs      = {},
  optional   = { "monitor.broken.count", "monitor.broken.kind", "monitor.broken.says", "monitor.broken.corrected" },
  thresholds = { "min_count" },

  symptom = "The Linux kernel log reports {says:text}.{corrected_text:text}",
  cause   = "{why:text}",
  fixes   = {
    { reason = "switch", action = "Take the node out of use, and have its NVSwitches and the fabric manager reset; what runs on any of its GPUs may fail",
      snippet = "systemctl status nvidia-fabricmanager\nnvidia-smi nvlink -e", language = "bash", ["for"] = { "nvidia" } },
    { reason = "port", action = "Look at the port and its cable, and tell the administrators", snippet = "ibstat\nibqueryerrors", language = "bash" },
    { reason = "pcie", action = "Read the state of the device's link, and tell the administrators", snippet = "sudo lspci -vv | grep -e LnkSta -e UESta", language = "bash" },
    { action = "Start the job again on other nodes" },
  },
  false_positives = "A message from before the job, or a port that was unplugged on purpose.",
  references = { "nvidia/fabric-manager" },

  applies = function(f) return f.monitor.broken.count ~= nil, "no Linux kernel log was given" end,

  detect = function(f, t)
    local broken = f.monitor.broken
    if not at_least(broken.count, t.min_count) then return nil end
    local causes = {
      switch = "An NVSwitch carries the NVLink traffic of all GPUs of the node. After a fatal error, programs that use NVLink there fail.",
      port   = "A network card without its cable carries nothing. Ranks on this node lose the connection, or share what other ports carry.",
      pcie   = "Data was lost, and the device may have to be reset.",
    }
    return { says = broken.says or "an error of a link", reason = broken.kind or "port", why = causes[broken.kind or "port"],
             corrected_text = broken.corrected and " Also: " .. broken.corrected .. "." or "" }
  end,

  tests = {
    { name = "a switch and a cable", edges = { ["monitor.broken.count"] = 1 },
      facts = { monitor = { broken = { count = 2, kind = "switch", says = "NVSwitch 3: SXid 20034, Fatal, Link 28 LTSSM Fault Up; mlx5_core 0000:17:00.0: module 0, Cable unplugged",
                                       corrected = "0000:3b:00.0: a PCIe error that was corrected" } } },
      expect = { reason = "switch", corrected_text = " Also: 0000:3b:00.0: a PCIe error that was corrected." } },
    { name = "a cable alone", facts = { monitor = { broken = { count = 1, kind = "port", says = "mlx5_core 0000:17:00.0: module 0, Cable unplugged" } } },
      expect = { reason = "port", corrected_text = "" } },
    { name = "near miss: errors that were corrected", facts = { monitor = { broken = { count = 0, corrected = "0000:3b:00.0: a PCIe error that was corrected" } } }, expect = "silent" },
    { name = "no log of the kernel", facts = { monitor = { broken = {} } }, expect = "not_applicable" },
  },
}
