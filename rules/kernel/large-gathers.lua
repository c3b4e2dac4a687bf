-- A few large gathers by index, which copy what the next kernel reads once. With weights of experts that are picked per token, the copy
-- is many times as large as the weights. Many small lookups are a matter of kernel/embedding-heavy.
return {
  id        = "kernel/large-gathers",
  title     = "Compute on rows where they are, instead of gathering them first",
  status    = "experimental",
  since     = "0.2",
  kind      = "info",
  effort    = "code",
  knowledge = { "K-A7", "K-C5" },

  needs      = { "family.embedding.share", "family.embedding.per_step", "op.of_top_kernel" },
  thresholds = { "min_share", "max_count" },

  symptom = "Gathers by index take {share:pct} of the compute time in {count:count} kernels {per:text}, and the longest is of {operator:text}.",
  cause   = "A gather writes a copy of each row that an index names, and the next kernel reads that copy. Where rows are named again and again, as the weights of an expert are by its tokens, the copy is many times as large as what it is made of.",
  fixes   = {
    { action = "If these are weights of experts, sort the tokens by expert and use a grouped product or a fused MoE kernel, which read each expert's weights once" },
    { action = "Compile the gather together with what reads the rows, so that they are not written first",
      snippet = "layer = torch.compile(layer)", language = "python", ["for"] = { "pytorch" } },
    { action = "Sort or deduplicate the indices, so that each row is read once" },
  },
  false_positives = "Lookups whose rows are all different and are used several times.",
  references = { "pytorch/compile" },

  applies = function(f)
    return f.family.embedding.share > 0 and contains(f.op.of_top_kernel or "", "index"), "the kernel with most time is no gather by index"
  end,

  detect = function(f, t)
    local gathers = f.family.embedding
    if not at_least(gathers.share, t.min_share) or not at_most(gathers.per_step, t.max_count) then return nil end
    return { share = gathers.share, count = gathers.per_step, operator = f.op.of_top_kernel }
  end,

  tests = {
    { name = "each token gets a copy of its expert's weights",
      edges = { ["family.embedding.share"] = 0.2, ["family.embedding.per_step"] = 12 },
      facts = { family = { embedding = { share = 0.49, per_step = 2 } }, op = { of_top_kernel = "aten::index" } },
      expect = { share = 0.49, count = 2, operator = "aten::index" } },
    { name = "near miss: a token embedding",
      facts = { family = { embedding = { share = 0.05, per_step = 1 } }, op = { of_top_kernel = "aten::index_select" } },
      expect = "silent" },
    { name = "a product takes most of the time",
      facts = { family = { embedding = { share = 0.3, per_step = 2 } }, op = { of_top_kernel = "aten::mm" } },
      expect = "not_applicable" },
    { name = "operators were not recorded",
      facts = { family = { embedding = { share = 0.3, per_step = 2 } } },
      expect = "cannot_tell" },
  },
}
