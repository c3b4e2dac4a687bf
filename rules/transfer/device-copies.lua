-- Copies from device memory to device memory that nothing runs beside: contiguous(), clones, slices written back,
-- buffers handed from library to library.
return {
  id        = "transfer/device-copies",
  title     = "Copy less inside the GPU",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  scope     = "run",
  effort    = "code",
  priority  = 60,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates", "launch/unfused-copies" },
  knowledge = { "K-H8", "K-B8" },

  needs      = { "window.device_time", "copy.device.per_step", "copy.device.lost", "copy.device.remedy" },
  optional   = { "window.supports_verdict" },
  thresholds = { "min_share", "min_count" },

  symptom = "{count:count} copies a step inside the GPU run alone for {share:pct} of its time.",
  cause   = "Data is moved from buffer to buffer without being changed.",
  fixes   = {
    { action  = "Write results where they are needed",
      snippet = "torch.mm(a, b, out=buffer[i])             # instead of buffer[i] = a @ b",
      language = "python" },
    { action = "Pass views instead of clones, and call contiguous() only where a kernel asks for it" },
    { action = "Let libraries share buffers (DLPack, __cuda_array_interface__)" },
  },
  false_positives = "Double buffers that are meant.",
  references = { "cuda-best-practices/transfers" },

  applies = function(f)
    if f.window.supports_verdict == false then return false, "the capture shows no loop: it is a start, a single pass or too short" end
    return f.copy.device.per_step > 0, "there is none of it"
  end,

  detect = function(f, t)
    local lost = share(f.copy.device.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(f.copy.device.per_step, t.min_count) then return nil end
    return { share = lost, count = f.copy.device.per_step }
  end,

  saving = function(f)
    return { claims = f.copy.device.lost, remedy = f.copy.device.remedy, confidence = 0.5, basis = "these copies are gone" }
  end,

  tests = {
    { name = "a clone of each activation",
      facts = { window = { device_time = 1e9 }, copy = { device = { per_step = 20, lost = 9e7, remedy = true } } },
      expect = { share = 0.09, count = 20 },
      saving = { claims = 9e7, confidence = 0.5 } },
    { name = "near miss: small copies",
      facts = { window = { device_time = 1e9 }, copy = { device = { per_step = 20, lost = 7.5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: now and then",
      facts = { window = { device_time = 1e9 }, copy = { device = { per_step = 1, lost = 9e7, remedy = true } } },
      expect = "silent" },
    { name = "no copies inside the device",
      facts = { window = { device_time = 1e9 }, copy = { device = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
