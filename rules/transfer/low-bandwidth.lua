-- Large copies of pinned memory should run at the rate of the link. Far below it, the link itself is slower than it
-- could be (fewer lanes or an older generation negotiated), the memory lies at the other socket, or others use the
-- same path.
return {
  id        = "transfer/low-bandwidth",
  title     = "Find out why pinned copies are far slower than the link",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "flag",
  priority  = 72,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates" },
  knowledge = { "K-J1" },

  needs      = { "window.device_time", "copy.slow.count", "copy.slow.bytes", "copy.slow.bandwidth", "copy.slow.lost",
                 "copy.slow.remedy", "hw.host_link_bytes_per_s" },
  optional   = { "run.devices_listed" },
  thresholds = { "min_share", "min_count", "max_of_link" },

  symptom = "Pinned copies run at {rate:rate}, although this GPU's link can reach {link_rate:rate}: {count:count} copies, {bytes:bytes} in all. Meanwhile, the GPU computes nothing for {share:pct} of the time.",
  cause   = "The link runs with fewer lanes or at an older speed, the host memory is on another socket, or other traffic shares the path.",
  fixes   = {
    { action  = "Bind the process and its memory to the socket of its GPU",
      snippet = [[nvidia-smi topo -m                      # column "NUMA Affinity"
numactl --cpunodebind=N --membind=N COMMAND]],
      language = "bash", ["for"] = { "nvidia" } },
    { action  = "Compare the negotiated link, under load, with its maximum; report missing lanes to the administrator",
      snippet = [[nvidia-smi --format=csv \
  --query-gpu=pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max]],
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "several", action = "If several GPUs copy through one switch at a time, spread the copies over the step" },
  },
  false_positives = "A machine whose link has fewer lanes than the card supports. Copies in both directions, or by other GPUs, that share the rate at the same moment.",
  references = { "cuda-best-practices/transfers", "nvidia/smi" },

  applies = function(f) return f.copy.slow.count > 0, "no pinned copy that is large or takes long is far slower than the link" end,

  detect = function(f, t)
    local lost = share(f.copy.slow.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.copy.slow.count, t.min_count) then return nil end
    local reached = share(f.copy.slow.bandwidth, f.hw.host_link_bytes_per_s)
    if not at_most(reached, t.max_of_link) then return nil end
    return { share = lost, count = f.copy.slow.count, bytes = f.copy.slow.bytes, rate = f.copy.slow.bandwidth,
             link_rate = f.hw.host_link_bytes_per_s, reached = reached,
             paths = (f.run.devices_listed or 0) > 1 and { { reason = "several" } } or {} }
  end,

  saving = { claims = "copy.slow.lost", remedy = "copy.slow.remedy", confidence = 0.5,
             basis = "the same copies run at the rate of the link" },

  tests = {
    { name = "an eighth of the link's rate",
      edges = { ["copy.slow.bandwidth"] = 1.44e10, ["copy.slow.count"] = 3, ["copy.slow.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, hw = { host_link_bytes_per_s = 2.4e10 },
                copy = { slow = { count = 20, bytes = 1e9, bandwidth = 3e9, lost = 3e8, remedy = true } } },
      expect = { share = 0.3, count = 20, bytes = 1e9, rate = 3e9, link_rate = 2.4e10, reached = 0.125, paths = {} },
      saving = { claims = 3e8, confidence = 0.5 } },
    { name = "on a node of several GPUs", facts = { window = { device_time = 1e9 }, hw = { host_link_bytes_per_s = 2.4e10 }, run = { devices_listed = 4 },
                copy = { slow = { count = 20, bytes = 1e9, bandwidth = 3e9, lost = 3e8, remedy = true } } },
      expect = { paths = { { reason = "several" } } } },
    { name = "near miss: two thirds of the rate, as when two GPUs copy at once",
      facts = { window = { device_time = 1e9 }, hw = { host_link_bytes_per_s = 2.4e10 },
                copy = { slow = { count = 20, bytes = 1e9, bandwidth = 1.6e10, lost = 3e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: slow, but hidden behind kernels",
      facts = { window = { device_time = 1e9 }, hw = { host_link_bytes_per_s = 2.4e10 },
                copy = { slow = { count = 20, bytes = 1e9, bandwidth = 3e9, lost = 1e6, remedy = true } } },
      expect = "silent" },
    { name = "copies reach the rate", facts = { window = { device_time = 1e9 }, copy = { slow = { count = 0 } } },
      expect = "not_applicable" },
    { name = "the device is not known",
      facts = { window = { device_time = 1e9 }, copy = { slow = { count = 20, bytes = 1e9, bandwidth = 3e9, lost = 3e8,
                                                                  remedy = true } } },
      expect = "cannot_tell" },
  },
}
