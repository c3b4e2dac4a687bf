-- The load time is spent inside file calls, not on decoding: the storage is the limit, or the way it is read (one
-- small file after the other). Faster code in the loader would win nothing.
return {
  id        = "input/storage-bound",
  title     = "Read the data from faster storage, in larger pieces, or only once",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 76,
  explains  = { "input/starved", "input/no-workers", "input/too-few-workers", "input/no-prefetch", "host/cpu-bound" },
  knowledge = { "K-N5", "K-H20" },

  loss           = "input",
  applies        = "lost.time",
  not_applicable = "the GPU never waits for data",
  evidence       = { "workers", file_share = "file.share", load_time = "load.median" },
  optional       = { "input.workers", "input.load.median" },
  thresholds     = { "min_share", "min_file_share" },

  symptom = "File calls take {file_share:pct} of the load time, and the GPU computes nothing for {share:pct} of the time for lack of data.",
  cause   = "The loader waits for storage and has little to compute.",
  fixes   = {
    { action = "Keep the data set, or the transformed samples, in host memory if it fits: only the first epoch then reads from storage",
      snippet = [[# with MONAI; elsewhere, keep transformed samples in a dictionary of the dataset
dataset = monai.data.CacheDataset(data=items, transform=transforms, cache_rate=1.0, num_workers=8)]],
      language = "python", ["for"] = { "python" } },
    { action  = "Copy the data to the node's own disk or memory before the run",
      snippet = 'cp -r "$DATA" "$TMPDIR/data"        # or: tar -C /dev/shm -xf "$DATA.tar"', language = "bash" },
    { action = "Store samples in a few large files that are read from start to end (WebDataset tar files, HDF5, LMDB), not in one file per sample" },
    { action  = "Read in parallel, so that more requests are in flight at a time",
      snippet = "loader = DataLoader(dataset, num_workers=16, prefetch_factor=4, persistent_workers=True)", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "The first epoch of a run whose data later stays in the page cache.",
  references = { "monai/cache-dataset", "pytorch/dataloader-workers" },

  saving = { confidence = 0.7, basis = "earlier or parallel reading overlaps with GPU work, as far as it can" },

  tests = {
    { name = "four fifths of the load time is reading",
      edges = { ["input.file.share"] = 0.5, ["input.lost"] = 1e6 },
      facts = { window = { device_time = 1e9 },
                input = { lost = 6e8, file = { share = 0.8 }, workers = 4, load = { median = 9e7 }, remedy = true } },
      expect = { share = 0.6, file_share = 0.8, workers = 4, load_time = 9e7 }, saving = { claims = 6e8, confidence = 0.7 } },
    { name = "near miss: decoding takes most of the load time",
      facts = { window = { device_time = 1e9 }, input = { lost = 6e8, file = { share = 0.2 }, remedy = true } },
      expect = "silent" },
    { name = "near miss: reading is hidden behind the GPU's work",
      facts = { window = { device_time = 1e9 }, input = { lost = 5e5, file = { share = 0.95 }, remedy = true } },
      expect = "silent" },
    { name = "the GPU never waits for data",
      facts = { window = { device_time = 1e9 }, input = { lost = 0, file = { share = 0.95 }, remedy = true } },
      expect = "not_applicable" },
    { name = "file calls were not recorded",
      facts = { window = { device_time = 1e9 }, input = { lost = 6e8, remedy = true } }, expect = "cannot_tell" },
  },
}
