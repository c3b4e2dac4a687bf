-- Kernels that only prepare a library's object run again and again: the seeding of a random generator, the analysis of a
-- sparse matrix. The object is made anew in each iteration, although it could be kept.
return {
  id        = "kernel/setup-in-loop",
  title     = "Keep objects of libraries instead of setting them up in the loop",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 79,
  explains  = { "kernel/dropout-random", "kernel/hot", "kernel/small-grid", "memory/alloc-in-loop" },
  knowledge = { "K-C5" },

  needs_loop     = true,
  loss           = "family.setup",
  not_applicable = "no kernels that set up a library's object run in the loop",
  evidence       = { count = "per_step" },
  thresholds     = { "min_share", "min_count" },

  symptom = "Kernels that set up objects of a library take {share:pct} of the time: {count:num} {per:text}.",
  cause   = "A random generator is seeded, or a sparse matrix is analyzed, in the loop: the object that holds the result is made again each time.",
  fixes   = {
    { action  = "Create the generator once, and keep it: it goes on where it stopped",
      snippet = [[curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);   // before the loop
curandSetPseudoRandomGeneratorSeed(generator, seed);
for (int step = 0; step < steps; ++step) curandGenerateUniform(generator, numbers, n);]],
      language = "cpp", ["for"] = { "c++" } },
    { action  = "Analyze a sparse matrix once, as long as the places of its nonzeros stay: keep the descriptor, and update only the values" },
    { action = "Keep objects of libraries (generators, plans, descriptors, handles) between calls, as members of a class or in a table by size" },
  },
  false_positives = "A matrix whose nonzeros move in each iteration.",
  references = { "cuda-best-practices/transfers" },

  saving = { remedy = "remedy", confidence = 0.7, basis = "these kernels run once, before the loop" },

  tests = {
    { name = "a generator is seeded in each iteration",
      edges = { ["family.setup.lost"] = 1e7, ["family.setup.per_step"] = 0.3 },
      facts = { window = { device_time = 1e9 }, family = { setup = { per_step = 1, lost = 5.4e8, remedy = true } } },
      expect = { share = 0.54, count = 1 },
      saving = { claims = 5.4e8, confidence = 0.7 } },
    { name = "near miss: a small matrix",
      facts = { window = { device_time = 1e9 }, family = { setup = { per_step = 1, lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the matrix changes now and then",
      facts = { window = { device_time = 1e9 }, family = { setup = { per_step = 0.05, lost = 5e7, remedy = true } } },
      expect = "silent" },
    { name = "objects are kept",
      facts = { window = { device_time = 1e9 }, family = { setup = { per_step = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
