-- Copies between host and GPU take much beside the kernels. Whether they overlap with kernels, a summary cannot say.
return {
  id        = "profile/copies",
  title     = "Copy less between the host and the GPU, or overlap it with kernels",
  status    = "stable",
  since     = "0.2",
  kind      = "symptom",
  knowledge = { "K-B4" },
  effort    = "code",
  observed  = "measured",

  needs      = { "totals.kernels.time", "totals.copies.count", "totals.copies.rows", "totals.host_copies" },
  thresholds = { "min_share" },

  symptom = "According to the summary, copies between host and GPU take {time:time}, which is {share:pct} of the time of kernels and copies together.",
  cause   = "A copy keeps the GPU from computing unless it runs on another stream and from pinned memory. A summary does not show whether it does.",
  fixes   = {
    { action = "Keep data on the GPU between kernels" },
    { action = "Copy from pinned memory and on a separate stream, so that kernels run meanwhile" },
    { action = "Capture a timeline, to see which copies the GPU waits for",
      snippet = "nsys profile --trace=cuda,nvtx,osrt -o run -- COMMAND\nadvise run.nsys-rep", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Copies that overlap with kernels, and copies at the start, which no summary tells from those of the loop.",
  references = { "cuda-best-practices/pinned-memory" },

  applies = function(f)
    if f.totals.copies.count == 0 then return false, "no summary of copies was given" end
    return f.totals.kernels.time > 0, "no summary of kernels was given"
  end,

  detect = function(f, t)
    local part = share(f.totals.host_copies, f.totals.host_copies + f.totals.kernels.time)
    if not at_least(part, t.min_share) then return nil end
    return { time = f.totals.host_copies, share = part, rows = top(f.totals.copies.rows, "time", 4) }
  end,

  tests = {
    { name = "copies take as long as kernels",
      edges = { ["totals.host_copies"] = 2.5e8 },
      facts = { totals = { kernels = { time = 1e9 }, host_copies = 1e9,
                           copies = { count = 40, rows = { { name = "[CUDA memcpy Host-to-Device]", time = 1e9 } } } } },
      expect = { share = 0.5, rows = 1 } },
    { name = "near miss: copies inside the GPU",
      facts = { totals = { kernels = { time = 1e9 }, host_copies = 1e7,
                           copies = { count = 40, rows = { { name = "[CUDA memcpy Device-to-Device]", time = 1e9 } } } } }, expect = "silent" },
    { name = "no copies", facts = { totals = { kernels = { time = 1e9 }, host_copies = 0, copies = { count = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
