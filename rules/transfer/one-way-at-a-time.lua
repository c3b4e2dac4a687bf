-- The link to the host works both ways at once, and the GPU has copy engines for both; uploads and downloads on one
-- stream, or through the same buffer, take turns instead. Whether the program has both at hand at the same time it must
-- know itself, so this only informs.
return {
  id        = "transfer/one-way-at-a-time",
  title     = "Upload and download at the same time",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-H9", "K-B8" },

  needs      = { "window.device_time", "copy.h2d.time", "copy.d2h.time", "copy.duplex.share", "copy.duplex.lost" },
  thresholds = { "min_share", "max_overlap", "min_lesser" },

  symptom = "Uploads and downloads take turns{overlap_text:text}. The direction with less to copy takes {share:pct} of the time by itself.",
  cause   = "Both directions are on one stream, or each waits for the other.",
  fixes   = {
    { action  = "Use one stream per direction, and events where one needs the other",
      snippet = [[cudaMemcpyAsync(device_in, host_in, bytes, cudaMemcpyHostToDevice, up);
cudaMemcpyAsync(host_out, device_out, bytes, cudaMemcpyDeviceToHost, down);]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "Work in chunks: upload the next chunk while the current one computes and the last one is downloaded" },
  },
  false_positives = "Downloads that are needed before the next upload.",
  references = { "cuda-best-practices/overlap" },

  applies = function(f)
    return f.copy.h2d.time > 0 and f.copy.d2h.time > 0, "copies go one way only"
  end,

  detect = function(f, t)
    local lost = share(f.copy.duplex.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    if not at_least(share(math.min(f.copy.h2d.time, f.copy.d2h.time), f.window.device_time), t.min_lesser) then return nil end
    if not at_most(f.copy.duplex.share, t.max_overlap) then return nil end
    local some = f.copy.duplex.share > 0
    return { share = lost, overlap = f.copy.duplex.share,
             overlap_text = some and ", but for " .. in_words(f.copy.duplex.share, "pct") .. " of the shorter direction" or "" }
  end,

  tests = {
    { name = "up, compute, down on one stream",
      edges = { ["copy.d2h.time"] = 5e7, ["copy.duplex.lost"] = 3e7 },
      facts = { window = { device_time = 1e9 }, copy = { h2d = { time = 4e8 }, d2h = { time = 2e8 }, duplex = { share = 0, lost = 2e8 } } },
      expect = { share = 0.2, overlap = 0, overlap_text = "" } },
    { name = "a little of it overlaps",
      edges = { ["copy.duplex.share"] = 0.1 },
      facts = { window = { device_time = 1e9 }, copy = { h2d = { time = 4e8 }, d2h = { time = 2e8 }, duplex = { share = 0.095, lost = 1.9e8 } } },
      expect = { overlap = 0.095 } },
    { name = "near miss: an eighth of it overlaps",
      facts = { window = { device_time = 1e9 }, copy = { h2d = { time = 4e8 }, d2h = { time = 2e8 }, duplex = { share = 0.12, lost = 1.8e8 } } },
      expect = "silent" },
    { name = "near miss: both at once",
      facts = { window = { device_time = 1e9 }, copy = { h2d = { time = 4e8 }, d2h = { time = 2e8 }, duplex = { share = 0.8, lost = 4e7 } } },
      expect = "silent" },
    { name = "near miss: hidden behind kernels",
      facts = { window = { device_time = 1e9 }, copy = { h2d = { time = 4e8 }, d2h = { time = 2e8 }, duplex = { share = 0, lost = 1e6 } } },
      expect = "silent" },
    { name = "near miss: tiny downloads",
      facts = { window = { device_time = 1e9 }, copy = { h2d = { time = 4e8 }, d2h = { time = 1e7 }, duplex = { share = 0, lost = 4e7 } } },
      expect = "silent" },
    { name = "uploads only",
      facts = { window = { device_time = 1e9 }, copy = { h2d = { time = 4e8 }, d2h = { time = 0 } } },
      expect = "not_applicable" },
    { name = "no copies recorded",
      facts = { window = { device_time = 1e9 } },
      expect = "cannot_tell" },
  },
}
