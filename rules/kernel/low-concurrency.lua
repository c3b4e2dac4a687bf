-- Kernels that leave room for others run one by one. Whether they depend on each other a timeline cannot tell, so this only
-- informs.
return {
  id        = "kernel/low-concurrency",
  title     = "Run small kernels concurrently",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-L4", "K-L5" },
  effort    = "code",

  needs      = { "kernel.concurrency", "kernel.narrow.share", "kernel.streams", "budget.compute", "window.time" },
  thresholds = { "min_share", "max_concurrency" },

  symptom = "Kernels that leave SMs free run alone for {share:pct} of the time (average concurrency {concurrency:num}, {streams:count} streams).",
  cause   = "Kernels of one stream run one after the other, even if they do not fill the GPU.",
  fixes   = {
    { action = "Put independent work on several streams",
      snippet = "side = torch.cuda.Stream()\nside.wait_stream(torch.cuda.current_stream())\nwith torch.cuda.stream(side):\n    b = branch_b(x)\n" ..
                "a = branch_a(x)\ntorch.cuda.current_stream().wait_stream(side)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Batch the work instead: one large kernel beats several small ones" },
    { action = "If there are many small jobs, run several processes on the GPU with MPS" },
  },
  false_positives = "A chain in which each kernel needs the result of the one before.",
  references = { "cuda-programming/streams", "cuda/mps" },

  applies = function(f) return f.kernel.narrow.share > 0, "no kernel is known to fill only a part of the GPU" end,

  detect = function(f, t)
    local narrow = f.kernel.narrow.share * share(f.budget.compute, f.window.time)
    if not at_least(narrow, t.min_share) or not at_most(f.kernel.concurrency, t.max_concurrency) then return nil end
    return { share = narrow, concurrency = f.kernel.concurrency, streams = f.kernel.streams }
  end,

  tests = {
    { name = "half of the compute time in narrow kernels on one stream",
      edges = { ["budget.compute"] = 5e8, ["kernel.concurrency"] = 1.1 },
      facts = { window = { time = 1e9 }, budget = { compute = 8e8 },
                kernel = { concurrency = 1.0, streams = 1, narrow = { share = 0.5 } } },
      expect = { share = 0.4, concurrency = 1, streams = 1 } },
    { name = "near miss: narrow kernels that already run side by side",
      facts = { window = { time = 1e9 }, budget = { compute = 8e8 },
                kernel = { concurrency = 2.4, streams = 4, narrow = { share = 0.5 } } },
      expect = "silent" },
    { name = "near miss: narrow kernels are a small part",
      facts = { window = { time = 1e9 }, budget = { compute = 8e8 },
                kernel = { concurrency = 1.0, streams = 1, narrow = { share = 0.1 } } },
      expect = "silent" },
    { name = "wide kernels only",
      facts = { window = { time = 1e9 }, budget = { compute = 8e8 },
                kernel = { concurrency = 1.0, streams = 1, narrow = { share = 0 } } },
      expect = "not_applicable" },
    { name = "the number of SMs is not known", facts = { window = { time = 1e9 } }, expect = "cannot_tell" },
  },
}
