-- The center replaced its own FFT library. Programs that are still linked against it are told by the names of its kernels,
-- ranges and switch, which the families in advise.toml list; no program code is needed for them.
return {
  id        = "site/old-fft",
  title     = "Link against the new FFT library",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",

  measure        = "family.site_old_fft",
  not_applicable = "no kernels of the old library ran",
  evidence       = { "share", count = "per_step", batch = "environment.site_fft_batch" },
  thresholds     = { "min_share" },
  optional       = { "environment.site_fft_batch" },

  symptom = "{share:pct} of the compute time runs kernels of the old FFT library.",
  cause   = "The program was linked before the new library became the default.",
  fixes   = {
    { action = "Load the new module and link again", snippet = "module swap old-fft new-fft", language = "bash" },
  },
  false_positives = "Programs that need the old library's layouts.",
  references = { "cuda-best-practices/pinned-memory" },

  tests = {
    { name = "half of the time, with the batch set",
      facts = { family = { site_old_fft = { share = 0.5, per_step = 12 } }, environment = { site_fft_batch = "64" } },
      expect = { share = 0.5, count = 12, batch = "64" } },
    { name = "near miss: a little of it", facts = { family = { site_old_fft = { share = 0.01, per_step = 1 } } }, expect = "silent" },
    { name = "none of it", facts = { family = { site_old_fft = { share = 0, per_step = 0 } } }, expect = "not_applicable" },
  },
}
