-- Weights are picked by the expert of each token: an index of the experts' weights writes a copy of a whole matrix for each token, and a
-- batch of products multiplies one row by each copy. More tokens mean more copies, so a larger batch wins nothing. Sizes tell it: the
-- products have one row each, and what takes most time is the gather that made their other side.
local function one_row_each(top)
  return starts_with(top or "", "aten::bmm [") and not starts_with(top, "aten::bmm [1, ") and contains(top, ", 1, ")
end

return {
  id        = "moe/gathered-weights",
  title     = "Reorder tokens by expert, instead of copying an expert's weights for each token",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 67,
  explains  = { "kernel/hot", "kernel/large-gathers", "kernel/slow-products", "kernel/low-throughput" },
  knowledge = { "K-A7", "K-C5" },

  needs      = { "family.embedding.share" },
  optional   = { "op.of_top_kernel", "roofline.shapes.memory.top", "family.embedding.per_step", "family.embedding.lost", "family.embedding.remedy",
                 "moe.gathered.lost", "moe.gathered.remedy", "moe.gathered.copies", "moe.gathered.matrices" },
  thresholds = { "min_share" },

  symptom = "Gathers by index take {share:pct} of the compute time, and feed products of one row each: {product:text}.",
  cause   = "Each token gets its own copy of a whole matrix, which is written once and read once. The copies grow with the number of tokens; the experts do not.",
  fixes   = {
    { action = "Sort the rows by expert, and use one grouped product for all of them: each expert's weights are then read once",
      snippet = [[order = experts.argsort()                       # the expert of each row
ends = torch.bincount(experts, minlength=len(weights)).cumsum(0).to(torch.int32)   # stays on the GPU
y = torch._grouped_mm(x[order], weights, offs=ends)      # newer versions: F.grouped_mm; weights: experts, inner, outer]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "With a few experts, multiply the rows of one expert after the other, from its weights where they are" },
    { action = "Use a fused expert layer (Megatron-Core, vLLM, SGLang)", ["for"] = { "pytorch" } },
  },
  false_positives = "Caches of attention that are gathered per request: use attention that reads pages of the cache.",
  references = { "pytorch/tuning-guide" },

  applies = function(f)
    local gathers = f.family.embedding.share > 0 and contains(f.op.of_top_kernel or "", "index")
    return gathers and one_row_each(f.roofline.shapes.memory.top), "no gather by index feeds products of one row each"
  end,

  detect = function(f, t)
    if not at_least(f.family.embedding.share, t.min_share) then return nil end
    return { share = f.family.embedding.share, count = f.family.embedding.per_step, copies = f.moe.gathered.copies, experts = f.moe.gathered.matrices, operator = f.op.of_top_kernel, product = f.roofline.shapes.memory.top }
  end,

  saving = function(f)
    if f.moe.gathered.lost and f.moe.gathered.lost.time > 0 then
      return { claims = f.moe.gathered.lost, remedy = f.moe.gathered.remedy, confidence = 0.6,
               basis = "no weights are copied, and products read the weights of each expert once" }
    end
    if f.family.embedding.lost == nil then return nil end
    return { claims = f.family.embedding.lost, remedy = f.family.embedding.remedy, confidence = 0.6,
             basis = "no weights are copied; that the products also read less is not counted" }
  end,

  tests = {
    { name = "each token gets a copy of its expert's weights", edges = { ["family.embedding.share"] = 0.1 },
      facts = { family = { embedding = { share = 0.56, per_step = 2, lost = 8e8, remedy = true } }, op = { of_top_kernel = "aten::index" },
                roofline = { shapes = { memory = { top = "aten::bmm [512, 1, 512] x [512, 512, 1024] in bf16" } } } },
      expect = { share = 0.56, count = 2, product = "aten::bmm [512, 1, 512] x [512, 512, 1024] in bf16" },
      saving = { claims = 8e8, confidence = 0.6 } },
    { name = "the gather says that there are 8 experts for 512 tokens",
      facts = { family = { embedding = { share = 0.56, per_step = 2, lost = 8e8, remedy = true } }, op = { of_top_kernel = "aten::index" },
                moe = { gathered = { lost = 1.2e9, remedy = true, copies = 512, matrices = 8 } },
                roofline = { shapes = { memory = { top = "aten::bmm [512, 1, 512] x [512, 512, 1024] in bf16" } } } },
      expect = { share = 0.56, copies = 512, experts = 8 },
      saving = { claims = 1.2e9, confidence = 0.6 } },
    { name = "near miss: products of many rows each",
      facts = { family = { embedding = { share = 0.56, per_step = 2, lost = 8e8, remedy = true } }, op = { of_top_kernel = "aten::index" },
                roofline = { shapes = { memory = { top = "aten::bmm [8, 64, 512] x [8, 512, 1024] in bf16" } } } },
      expect = "not_applicable" },
    { name = "near miss: one row in all",
      facts = { family = { embedding = { share = 0.56, per_step = 2, lost = 8e8, remedy = true } }, op = { of_top_kernel = "aten::index" },
                roofline = { shapes = { memory = { top = "aten::bmm [1, 1, 512] x [1, 512, 1024] in bf16" } } } },
      expect = "not_applicable" },
    { name = "near miss: little time",
      facts = { family = { embedding = { share = 0.04, per_step = 2, lost = 8e6, remedy = true } }, op = { of_top_kernel = "aten::index" },
                roofline = { shapes = { memory = { top = "aten::bmm [512, 1, 512] x [512, 512, 1024] in bf16" } } } },
      expect = "silent" },
    { name = "sizes were not recorded",
      facts = { family = { embedding = { share = 0.56, per_step = 2, lost = 8e8, remedy = true } }, op = { of_top_kernel = "aten::index" } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
