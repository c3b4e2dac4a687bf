-- Ranks of one job load different versions of NCCL. They may hang or fail, and no version promises to work with another.
return {
  id        = "topology/nccl-versions",
  title     = "Let all ranks load the same version of NCCL",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 70,
  knowledge = { "K-J4" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "limit",

  needs      = { "nccl.ranks" },
  optional   = { "nccl.version", "nccl.versions" },
  thresholds = {},

  symptom = "NCCL's log names several versions: {versions:text}.",
  cause   = "Ranks of one job must use one version: what they exchange when they connect differs between versions. A node may have another container, module or virtual environment.",
  fixes   = {
    { action = "See which library each node loads, and start the job from one environment",
      snippet = "srun python -c 'import socket, torch; print(socket.gethostname(), torch.cuda.nccl.version())'", language = "bash", ["for"] = { "pytorch" } },
    { action = "See which libnccl the loader finds on each node, and start the job from one environment", snippet = "ldconfig -p | grep nccl\necho $LD_LIBRARY_PATH", language = "bash" },
  },
  false_positives = "A file that holds logs of several jobs.",
  references = { "nccl/troubleshooting" },

  applies = function(f) return f.nccl.version ~= nil, "no log of NCCL names its version" end,

  detect = function(f)
    if not f.nccl.versions then return nil end
    return { versions = f.nccl.versions }
  end,

  tests = {
    { name = "two nodes, two versions", facts = { nccl = { ranks = 2, version = "2.21.5+cuda12.4", versions = "2.18.3+cuda12.1, 2.21.5+cuda12.4" } },
      expect = { versions = "2.18.3+cuda12.1, 2.21.5+cuda12.4" } },
    { name = "near miss: one version", facts = { nccl = { ranks = 2, version = "2.21.5+cuda12.4" } }, expect = "silent" },
    { name = "no log", facts = { nccl = { ranks = 0 } }, expect = "not_applicable" },
  },
}
