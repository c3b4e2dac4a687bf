-- Kernels whose names the knowledge base does not know: what they do, no rule can judge.
return {
  id        = "kernel/unknown",
  title     = "Measure the kernels that are not recognized by name",
  status    = "stable",
  since     = "0.2",
  kind      = "info",
  priority  = 10,
  knowledge = { "K-E1" },
  effort    = "flag",

  measure        = "kernel.unknown",
  applies        = "rows",
  not_applicable = "each kernel is recognized by its name",
  evidence       = { "share", "rows" },
  optional       = { "run.languages" },
  thresholds     = { "min_share" },

  symptom = "Kernels that are not recognized by name take {share:pct} of the kernel time, {mostly:text} {name:kernel}.",
  cause   = "No rule can tell whether such a kernel is a matrix product, a collective or a conversion, so no rule judges it.",
  fixes   = {
    { action  = "Measure these kernels with Nsight Compute",
      snippet = "ncu --set full --kernel-name 'regex:^{name:function}$' --launch-count 3 -o unknown -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action  = "Measure these kernels with rocprof-compute",
      snippet = "rocprof-compute profile --name unknown --kernel {name:function} -- COMMAND", language = "bash", ["for"] = { "amd" } },
    { action = "Add their names to the [[kernel]] entries of your site's knowledge base" },
  },
  false_positives = "Your own kernels, if you know them well.",
  references = { "nvidia/gpu-background" },

  -- Programs in C++ and Fortran have kernels of their own, whose names nobody else knows.
  detect = function(f, t, e)
    if f.run.languages and not contains(f.run.languages, "Python") then return nil end
    e = adopt(e, f.kernel.unknown.rows[1])
    e.mostly = 2 * e.rows[1].share >= e.share and "mostly" or "the longest of them"
    return e
  end,

  tests = {
    { name = "a third in two kernels of an own library",
      edges = { ["kernel.unknown.share"] = 0.03 },
      facts = { kernel = { unknown = { share = 0.33, rows = { { name = "foo_kernel", count = 40, time = 3e8, share = 0.3 },
                                                              { name = "bar_kernel", count = 4, time = 3e7, share = 0.03 } } } } },
      expect = { share = 0.33, name = "foo_kernel", rows = 2 } },
    { name = "near miss: a program with kernels of its own",
      facts = { run = { languages = "CUDA C++" },
                kernel = { unknown = { share = 0.33, rows = { { name = "foo_kernel", count = 40, time = 3e8, share = 0.3 } } } } },
      expect = "silent" },
    { name = "near miss: a sliver",
      facts = { kernel = { unknown = { share = 0.01, rows = { { name = "foo_kernel", count = 4, time = 1e7, share = 0.01 } } } } },
      expect = "silent" },
    { name = "all names are known", facts = { kernel = { unknown = { share = 0, rows = {} } } }, expect = "not_applicable" },
    { name = "no kernels were recorded", facts = {}, expect = "cannot_tell" },
  },
}
