-- Some pairs of GPUs have NVLink and others do not: by the wiring of the node, or because a link or bridge is missing.
return {
  id        = "topology/missing-nvlink",
  title     = "Put ranks that communicate most on GPUs connected by NVLink",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  knowledge = { "K-J6", "K-J1" },
  effort    = "flag",
  observed  = "recorded",

  needs      = { "topology.gpus", "topology.nvlink.pairs", "topology.nvlink.missing", "topology.nvlink.rows" },
  thresholds = { "min_missing" },

  symptom = "NVLink is missing between {missing:count} of {pairs:count} pairs of GPUs ({a:text} and {b:text}: {path:text}), although other pairs have it.",
  cause   = "Such pairs communicate over PCIe, at a tenth of NVLink's rate. If all GPUs should be connected alike, a link, a bridge or the fabric manager is down.",
  fixes   = {
    { action = "Check which links are up, and compare with another node of the same kind", snippet = "nvidia-smi nvlink --status\nnvidia-smi topo -m",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "If the node is wired in pairs or in a ring, place tensor-parallel ranks on connected GPUs",
      snippet = "export CUDA_VISIBLE_DEVICES=0,1", language = "bash" },
  },
  false_positives = "Nodes that have bridges only between pairs of cards, by design.",
  references = { "nccl/troubleshooting" },

  applies = function(f) return f.topology.nvlink.pairs > 0, "no topology matrix shows NVLink between GPUs" end,

  detect = function(f, t)
    local nvlink = f.topology.nvlink
    if not at_least(nvlink.missing, t.min_missing) then return nil end
    local rows = nvlink.rows
    return { missing = nvlink.missing, pairs = nvlink.missing + nvlink.pairs, a = rows[1].a, b = rows[1].b, path = rows[1].path, rows = rows }
  end,

  tests = {
    { name = "one GPU of four fell off the fabric",
      edges = { ["topology.nvlink.missing"] = 1 },
      facts = { topology = { gpus = 4, nvlink = { pairs = 3, missing = 3, rows = {
        { a = "GPU0", b = "GPU3", path = "SYS", of = "links" }, { a = "GPU1", b = "GPU3", path = "SYS", of = "links" },
        { a = "GPU2", b = "GPU3", path = "SYS", of = "links" } } } } },
      expect = { missing = 3, pairs = 6, a = "GPU0", b = "GPU3", path = "SYS", rows = 3 } },
    { name = "near miss: every pair is connected",
      facts = { topology = { gpus = 4, nvlink = { pairs = 6, missing = 0, rows = {} } } }, expect = "silent" },
    { name = "a node without NVLink",
      facts = { topology = { gpus = 4, nvlink = { pairs = 0, missing = 0, rows = {} } } }, expect = "not_applicable" },
  },
}
