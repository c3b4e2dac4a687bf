-- Many small matrix products one after another on a stream (a loop over experts, heads, groups or parts): each fills a
-- part of the GPU and pays for a launch. One batched or grouped product does the same work.
return {
  id        = "kernel/small-gemm-trains",
  title     = "Batch small matrix products",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 45,
  explains  = { "launch/tiny-kernels", "launch/bound", "kernel/small-grid" },
  knowledge = { "K-H6", "K-C3" },

  needs_loop = true,
  loss       = "kernel.gemm_train",
  evidence   = { count = "kernels" },
  thresholds = { "min_share", "min_count" },

  symptom = "{count:count} small matrix products {per:text} run one after another. The GPU waits between them for {share:pct} of the time.",
  cause   = "A loop on the host multiplies the pieces one by one.",
  fixes   = {
    { action  = "Stack equal shapes and multiply once",
      snippet = "out = torch.bmm(torch.stack(inputs), torch.stack(weights))       # or torch.einsum over a stacked weight",
      language = "python", ["for"] = { "pytorch" } },
    { action  = "For different sizes, use a grouped matrix product",
      snippet = "out = torch._grouped_mm(tokens, expert_weights, offs=offsets)        # CUTLASS grouped GEMM, MegaBlocks",
      language = "python", ["for"] = { "pytorch" } },
    { action = "In CUDA C++, call the batched form of cuBLAS",
      snippet = "cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, m, m * k, b, k, k * n, &beta, c, m, m * n, batches);", language = "cpp", ["for"] = { "c++", "fortran" } },
  },
  false_positives = "Products that depend on each other.",
  references = { "pytorch/compile", "nvidia/gpu-background" },

  saving = { confidence = 0.5, basis = "one launch replaces each series" },

  tests = {
    { name = "a loop over 64 experts",
      facts = { window = { device_time = 1e9 }, kernel = { gemm_train = { kernels = 160, lost = 9e7, remedy = true } } },
      expect = { share = 0.09, count = 160 },
      saving = { claims = 9e7, confidence = 0.5 } },
    { name = "near miss: products behind a full queue",
      facts = { window = { device_time = 1e9 }, kernel = { gemm_train = { kernels = 160, lost = 7.5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the products of one layer",
      facts = { window = { device_time = 1e9 }, kernel = { gemm_train = { kernels = 8, lost = 9e7, remedy = true } } },
      expect = "silent" },
    { name = "no runs of small products",
      facts = { window = { device_time = 1e9 }, kernel = { gemm_train = { kernels = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
