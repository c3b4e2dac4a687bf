-- Copies take longer than all computing together, and they are not hidden: the link, not the GPU, sets the pace.
-- A symptom; rules about pageable memory, repeated uploads and round trips name the cause. What none of them explains:
-- copies that already run beside the kernels, as far as there are kernels. Only sending less helps then.
return {
  id        = "transfer/copy-dominates",
  title     = "Move less data: copies take longer than computing",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  effort    = "design",
  priority  = 30,
  topic     = "copies",
  explains  = { "transfer/exposed-copy", "transfer/copy-operator" },
  knowledge = { "K-A3", "K-B8" },

  needs      = { "window.device_time", "copy.count", "copy.time", "copy.bytes", "copy.exposed", "budget.compute", "copy.groups" },
  optional   = { "run.devices", "op.copy.per_step", "copy.separate.lost", "copy.separate.remedy" },
  thresholds = { "min_share", "min_ratio", "min_separate" },

  symptom = "{who:text} copies for {copy_time:time} and computes for {compute_time:time}. For {share:pct} of the time, only copies run{op_text:text}.{memory_text:text}",
  cause   = "Moving the data takes longer than computing with it.",
  fixes   = {
    { reason = "pageable", action = "Pin buffers that are copied more than once: such copies are two or three times as fast, and pinning takes about as long as one slow copy",
      snippet = [[float* host;
cudaMallocHost(&host, bytes);          // instead of malloc(); or once: cudaHostRegister(existing, bytes, cudaHostRegisterDefault)]],
      language = "cpp", ["for"] = { "c++" } },
    { reason = "pageable", action = "Pin buffers that are copied more than once: such copies are two or three times as fast, and pinning takes about as long as one slow copy", ["for"] = { "python", "fortran", "openacc", "openmp" } },
    { action = "Keep data that is used again on the GPU, and compute intermediate steps there" },
    { action  = "Send data in the type in which it is stored, and convert it on the GPU",
      snippet = "x = images_uint8.to(device, non_blocking=True).to(torch.bfloat16).div_(255)   # a quarter of float32",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Do more work on each byte that was sent: several passes, a larger part of the model, fused steps" },
  },
  false_positives = "A tool whose only job is to move data.",
  references = { "cuda-best-practices/transfers" },

  -- A program that only copies measures the link, or stages data: nothing says what its copies are too long for.
  applies = function(f)
    if f.budget.compute == 0 then return false, "no kernels ran: there is nothing that copies could take longer than" end
    return f.copy.count > 0, "there are no copies"
  end,

  detect = function(f, t)
    local exposed = share(f.copy.exposed.time, f.window.device_time)
    if not at_least(exposed, t.min_share) then return nil end
    if not at_least(share(f.copy.time, f.budget.compute), t.min_ratio) then return nil end
    local calls = f.op.copy.per_step
    local one = (f.run.devices or 1) == 1
    local pageable = filter(f.copy.groups, function(row) return row.memory == "pageable" end)
    local mostly = 2 * sum(pageable, "time") > f.copy.time
    return { who = one and "The GPU" or "On average, each GPU", op_text = calls and "; aten::copy_ is called " .. in_words(math.floor(calls + 0.5), "count") .. " times per step" or "",
             share = exposed, copy_time = f.copy.time, compute_time = f.budget.compute, bytes = f.copy.bytes,
             reason = mostly and "pageable" or nil, memory_text = mostly and " Most of the data lies in pageable memory: pin buffers that are copied more than once." or "",
             rows = top(f.copy.groups, "time", 3) }
  end,

  saving = function(f, t, e)
    local separate = f.copy.separate.lost and share(f.copy.separate.lost.time, f.window.device_time) or 0
    if f.copy.separate.remedy == nil or not at_least(separate, t.min_separate) then return nil end
    return { claims = f.copy.separate.lost, remedy = f.copy.separate.remedy, confidence = 0.4,
             basis = "the data stays on the GPU, so that these copies are gone" }
  end,

  tests = {
    { name = "prefetched copies that take longer than computing",
      edges = { ["budget.compute"] = 9.8e8, ["copy.exposed"] = 5e7, ["copy.separate.lost"] = 2e7 },
      facts = { window = { device_time = 1e9 }, budget = { compute = 7e8 },
                copy = { count = 300, time = 9.8e8, bytes = 2e10, exposed = 2.9e8, groups = {},
                         separate = { lost = 2.9e8, remedy = true } } },
      expect = { share = 0.29 },
      saving = { claims = 2.9e8, confidence = 0.4 } },
    { name = "a benchmark of copies",
      facts = { window = { device_time = 1e9 }, budget = { compute = 0 },
                copy = { count = 40, time = 9e8, bytes = 6e9, exposed = 9e8,
                         groups = { { direction = "host to device", memory = "pinned", time = 9e8 } } } },
      expect = "not_applicable" },
    { name = "four times as long as computing",
      facts = { window = { device_time = 1e9 }, budget = { compute = 2e8 },
                copy = { count = 40, time = 8e8, bytes = 6e9, exposed = 7.5e8,
                         groups = { { direction = "host to device", memory = "pinned", time = 5e8 },
                                    { direction = "device to host", memory = "pinned", time = 3e8 } } } },
      expect = { share = 0.75, copy_time = 8e8, compute_time = 2e8, bytes = 6e9, rows = 2 } },
    { name = "most of the time for copies of pageable memory",
      facts = { window = { device_time = 1e9 }, budget = { compute = 2e8 },
                copy = { count = 40, time = 8e8, bytes = 6e9, exposed = 7.5e8,
                         groups = { { direction = "host to device", memory = "pageable", time = 5e8 },
                                    { direction = "device to host", memory = "pinned", time = 3e8 } } } },
      expect = { reason = "pageable", memory_text = " Most of the data lies in pageable memory: pin buffers that are copied more than once." } },
    { name = "near miss: as long as computing, but beside it",
      facts = { window = { device_time = 1e9 }, budget = { compute = 9e8 },
                copy = { count = 40, time = 9.5e8, bytes = 6e9, exposed = 4e7,
                         groups = { { direction = "host to device", time = 9.5e8 } } } },
      expect = "silent" },
    { name = "near miss: computing takes longer",
      facts = { window = { device_time = 1e9 }, budget = { compute = 6e8 },
                copy = { count = 40, time = 3e8, bytes = 6e9, exposed = 3e8,
                         groups = { { direction = "host to device", time = 3e8 } } } },
      expect = "silent" },
    { name = "no copies",
      facts = { window = { device_time = 1e9 }, budget = { compute = 6e8 },
                copy = { count = 0, time = 0, bytes = 0, exposed = 0, groups = {} } },
      expect = "not_applicable" },
    { name = "GPU work was not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
