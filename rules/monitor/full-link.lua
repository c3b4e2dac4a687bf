-- The link between host and GPU is full all the time, by the monitor's own count of its traffic: copies are the limit.
return {
  id        = "monitor/full-link",
  title     = "Move less data over PCIe: the link is full",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 58,
  explains  = { "monitor/low-utilisation", "monitor/busy-but-idle-inside" },
  knowledge = { "K-E1", "K-O7" },
  effort    = "code",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.samples" },
  optional   = { "monitor.full_link.gpu", "monitor.full_link.upload", "monitor.full_link.rate", "monitor.full_link.peak", "monitor.full_link.link", "monitor.full_link.logged" },
  thresholds = { "min_samples" },

  symptom = "{gpu:text} {way:text} {rate:rate} over PCIe in nearly all samples. {link:text} moves about {peak:rate} in practice.{check:text}",
  cause   = "The same data crosses the link again and again, or more arrives than the link can carry in time. The GPU waits for copies, or its kernels read host memory.",
  fixes   = {
    { reason = "unnamed", action = "See which link the GPU has: on a faster one, this traffic leaves room",
      snippet = "nvidia-smi --query-gpu=index,pcie.link.gen.current,pcie.link.width.current --format=csv", language = "bash", ["for"] = { "nvidia" } },
    { action = "Keep data that is used again in the GPU's memory: upload it once, and cache what each step needs" },
    { action = "Send smaller types, and let the GPU decode, convert and augment", snippet = "x = x.to(\"cuda\", non_blocking=True).float().div_(255)   # send uint8", language = "python", ["for"] = { "pytorch" } },
    { action = "If weights or states are offloaded to the host, keep as many of them on the GPU as fit" },
    { action = "Capture a timeline: it shows which copies or kernels use the link", snippet = "nsys profile --trace=cuda,nvtx --gpu-metrics-devices=all --duration=30 -o run -- COMMAND\nadvise run.nsys-rep",
      language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Another process that copies to the same GPU.",
  references = { "nvidia/smi", "nvidia/dcgm" },

  applies = function(f) return f.monitor.gpus > 0, "no monitor log was given" end,

  detect = function(f, t)
    local full = f.monitor.full_link
    if not full.gpu or not at_least(f.monitor.samples, t.min_samples) then return nil end
    return { gpu = full.gpu, way = full.upload and "receives" or "sends", rate = full.rate, peak = full.peak,
             reason = full.logged and "" or "unnamed", link = (full.logged and "" or "A link of ") .. full.link,
             check = full.logged and "" or " The log does not say which link it is." }
  end,

  tests = {
    { name = "uploads all the time", edges = { ["monitor.samples"] = 20 },
      facts = { monitor = { gpus = 1, samples = 60, full_link = { gpu = "GPU 0", upload = true, rate = 24.5e9, peak = 25e9, link = "PCIe 4.0 x16", logged = true } } },
      expect = { way = "receives", gpu = "GPU 0", link = "PCIe 4.0 x16", check = "", reason = "" } },
    { name = "the log does not name the link",
      facts = { monitor = { gpus = 1, samples = 60, full_link = { gpu = "GPU 0", upload = true, rate = 24.5e9, peak = 25e9, link = "PCIe 4.0 x16", logged = false } } },
      expect = { link = "A link of PCIe 4.0 x16", check = " The log does not say which link it is.", reason = "unnamed" } },
    { name = "near miss: little traffic", facts = { monitor = { gpus = 1, samples = 60, full_link = {} } }, expect = "silent" },
    { name = "no monitor", facts = { monitor = { gpus = 0, samples = 0, full_link = {} } }, expect = "not_applicable" },
  },
}
