-- Either value of CUBLAS_WORKSPACE_CONFIG makes cuBLAS give the same bits with several streams. cuBLAS documents what each costs: the
-- small workspace, :16:8 (eight buffers of 16 KiB), may slow everything down; the large one, :4096:8, takes about 24 MiB more of the
-- GPU's memory. How much slower is not documented and differs by shape, so nothing is claimed, and the large one is no finding.
return {
  id        = "environment/deterministic-workspace",
  title     = "Use the larger cuBLAS workspace for deterministic runs",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "flag",
  knowledge = { "K-C5" },

  needs      = { "environment.recorded" },
  optional   = { "environment.cublas_workspace" },
  thresholds = {},

  symptom = "CUBLAS_WORKSPACE_CONFIG is {value:text}: cuBLAS uses its small workspace, which may limit performance.",
  cause   = "The run was asked for bit-identical results, with the smaller of the two workspaces that give them.",
  fixes   = {
    { action  = "Use the larger workspace: equally reproducible, for about 24 MiB of device memory",
      snippet = "export CUBLAS_WORKSPACE_CONFIG=:4096:8",
      language = "bash" },
    { action = "If results need not be bit-identical, unset it and turn off torch.use_deterministic_algorithms", ["for"] = { "pytorch" } },
  },
  false_positives = "A device without 24 MiB to spare.",
  references = { "cublas/reproducibility" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    return f.environment.cublas_workspace ~= nil, "CUBLAS_WORKSPACE_CONFIG is not set"
  end,

  detect = function(f, t)
    local value = f.environment.cublas_workspace
    if value ~= ":16:8" then return nil end
    return { value = value }
  end,

  tests = {
    { name = "the small workspace",
      facts = { environment = { recorded = true, cublas_workspace = ":16:8" } },
      expect = { value = ":16:8" } },
    { name = "near miss: the large one",
      facts = { environment = { recorded = true, cublas_workspace = ":4096:8" } },
      expect = "silent" },
    { name = "it is not set",
      facts = { environment = { recorded = true } },
      expect = "not_applicable" },
    { name = "the report holds no environment",
      facts = { environment = { recorded = false } },
      expect = "not_applicable" },
  },
}
