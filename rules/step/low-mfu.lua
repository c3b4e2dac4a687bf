-- Kernels run nearly all the time and reach little of what the GPU can do, in arithmetic and in memory traffic. Which kernels, other
-- rules say. Only where the work of most kernels is known.
return {
  id        = "step/low-mfu",
  title     = "Find out why a busy GPU reaches so little of its peak",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  effort    = "code",
  knowledge = { "K-E1", "K-D1", "K-G4" },

  needs      = { "efficiency.mfu", "efficiency.bandwidth", "efficiency.measured_share", "budget.compute", "window.time" },
  optional   = { "roofline.shapes.slow.share", "roofline.shapes.slow.top" },
  thresholds = { "min_busy", "min_measured", "max_mfu", "max_bandwidth" },

  symptom = "Kernels run {busy:pct} of the time. Their work would take {mfu:pct} of it at the GPU's peak rate (model FLOPS utilization, MFU), and their bytes {bandwidth:pct} at its peak memory bandwidth{slow_text:text}.",
  cause   = "Utilization counts the time in which anything runs: small sizes, unfused operators and kernels that leave SMs free keep a GPU busy without using it.",
  fixes   = {
    { action = "Look at the kernels with most time first: their sizes, types, and what they reach", snippet = "advise run.json -v        # rules kernel/… and precision/…", language = "bash" },
    { action = "Use larger batches and 16-bit types, and fuse small operators", snippet = "model = torch.compile(model)", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "Models of small layers, and kernels whose work cannot be counted.",
  references = { "nvidia/gpu-background" },

  applies = function(f, t)
    if f.budget.compute == 0 or f.efficiency.measured_share == 0 then return false, "the work of the kernels is not known" end
    return at_least(share(f.budget.compute, f.window.time), t.min_busy), "the GPU is not busy: the time without kernels matters first"
  end,

  detect = function(f, t)
    local busy = share(f.budget.compute, f.window.time)
    local measured = f.efficiency.measured_share
    if not at_least(measured, t.min_measured) then return nil end
    -- What was not measured may do as much work as what was.
    local mfu, bandwidth = share(f.efficiency.mfu, measured), share(f.efficiency.bandwidth, measured)
    if not at_most(mfu, t.max_mfu) or not at_most(bandwidth, t.max_bandwidth) then return nil end
    local slow = f.roofline.shapes.slow
    local slow_text = ""
    if slow.share and slow.share > 0 and slow.top then
      slow_text = ". Operators far from both limits take " .. in_words(slow.share, "pct") .. " of the kernel time, most of it " .. slow.top
    end
    return { slow_text = slow_text, slow = slow.share, busy = busy, mfu = mfu, bandwidth = bandwidth, measured = measured }
  end,

  tests = {
    { name = "busy with small kernels",
      edges = { ["budget.compute"] = 8e8, ["efficiency.measured_share"] = 0.5, ["efficiency.mfu"] = 0.16, ["efficiency.bandwidth"] = 0.24 },
      facts = { budget = { compute = 9.5e8 }, window = { time = 1e9 }, efficiency = { mfu = 0.08, bandwidth = 0.1, measured_share = 0.8 } },
      expect = { busy = 0.95, mfu = 0.1, bandwidth = 0.125 } },
    { name = "recorded sizes name the operator",
      facts = { budget = { compute = 9.5e8 }, window = { time = 1e9 }, efficiency = { mfu = 0.08, bandwidth = 0.1, measured_share = 0.8 },
                roofline = { shapes = { slow = { share = 0.4, top = "aten::bmm [16, 64, 64] x [16, 64, 64]" } } } },
      expect = { slow_text = ". Operators far from both limits take 40 % of the kernel time, most of it aten::bmm [16, 64, 64] x [16, 64, 64]" } },
    { name = "near miss: memory is the limit",
      facts = { budget = { compute = 9.5e8 }, window = { time = 1e9 }, efficiency = { mfu = 0.02, bandwidth = 0.6, measured_share = 0.8 } }, expect = "silent" },
    { name = "near miss: half of the peak",
      facts = { budget = { compute = 9.5e8 }, window = { time = 1e9 }, efficiency = { mfu = 0.45, bandwidth = 0.1, measured_share = 0.9 } }, expect = "silent" },
    { name = "near miss: little was measured",
      facts = { budget = { compute = 9.5e8 }, window = { time = 1e9 }, efficiency = { mfu = 0.02, bandwidth = 0.02, measured_share = 0.2 } }, expect = "silent" },
    { name = "a GPU that is idle for most of the time is not fine: it is not busy",
      facts = { budget = { compute = 7e7 }, window = { time = 1e9 }, efficiency = { mfu = 0.01, bandwidth = 0.02, measured_share = 0.8 } }, expect = "not_applicable" },
    { name = "nothing was measured",
      facts = { budget = { compute = 9.5e8 }, window = { time = 1e9 }, efficiency = { mfu = 0, bandwidth = 0, measured_share = 0 } }, expect = "not_applicable" },
    { name = "no timeline", facts = {}, expect = "cannot_tell" },
  },
}
