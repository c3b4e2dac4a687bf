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
  thresholds = { "min_share", "min_pieces", "max_piece" },

  symptom = "According to the summary, copies between host and GPU take {time:time}, which is {share:pct} of the time of kernels and copies together{pieces:text}.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "pieces", action = "Gather the small pieces in one buffer on the host, and copy that once",
      snippet = "cudaMallocHost(&packed_host, bytes);        // once\npack_all(packed_host, pieces);\ncudaMemcpyAsync(packed_device, packed_host, bytes, cudaMemcpyHostToDevice, stream);", language = "cpp", ["for"] = { "c++" } },
    { reason = "pieces", action = "Gather the small pieces in one array on the host, and copy that once" },
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
    local rows = top(f.totals.copies.rows, "time", 4)
    local first = rows[1]
    local pieces = at_least(first.count, t.min_pieces) and at_most(first.time / first.count, t.max_piece)
    return { time = f.totals.host_copies, share = part, rows = rows, reason = pieces and "pieces" or nil,
             pieces = pieces and "; most of it is " .. in_words(first.count, "count") .. " copies of " .. in_words(first.time / first.count, "time") .. " each" or "",
             why = pieces and "To start a copy takes longer than to move so few bytes, on the GPU and even more on the host."
                   or "A copy keeps the GPU from computing unless it runs on another stream and from pinned memory. A summary does not show whether it does." }
  end,

  tests = {
    { name = "copies take as long as kernels",
      edges = { ["totals.host_copies"] = 2.5e8 },
      facts = { totals = { kernels = { time = 1e9 }, host_copies = 1e9,
                           copies = { count = 40, rows = { { name = "[CUDA memcpy Host-to-Device]", time = 1e9, count = 40 } } } } },
      expect = { share = 0.5, rows = 1, pieces = "" } },
    { name = "a thousand copies of one number",
      facts = { totals = { kernels = { time = 5e5 }, host_copies = 2.4e6, copies = { count = 1200, rows = { { name = "[CUDA memcpy HtoD]", time = 2.4e6, count = 1200 } } } } },
      expect = { reason = "pieces", pieces = "; most of it is 1,200 copies of 2.00 µs each" } },
    { name = "near miss: fewer copies of one number",
      facts = { totals = { kernels = { time = 5e5 }, host_copies = 1.6e6, copies = { count = 800, rows = { { name = "[CUDA memcpy HtoD]", time = 1.6e6, count = 800 } } } } },
      expect = { pieces = "" } },
    { name = "copies of a few microseconds each",
      facts = { totals = { kernels = { time = 5e5 }, host_copies = 4.4e7, copies = { count = 10000, rows = { { name = "[CUDA memcpy HtoD]", time = 4.4e7, count = 10000 } } } } },
      expect = { reason = "pieces" } },
    { name = "near miss: many copies that each move more",
      facts = { totals = { kernels = { time = 5e5 }, host_copies = 6e7, copies = { count = 10000, rows = { { name = "[CUDA memcpy HtoD]", time = 6e7, count = 10000 } } } } },
      expect = { pieces = "" } },
    { name = "near miss: copies inside the GPU",
      facts = { totals = { kernels = { time = 1e9 }, host_copies = 1e7,
                           copies = { count = 40, rows = { { name = "[CUDA memcpy Device-to-Device]", time = 1e9, count = 40 } } } } }, expect = "silent" },
    { name = "no copies", facts = { totals = { kernels = { time = 1e9 }, host_copies = 0, copies = { count = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
