-- Libraries pick slow variants of matrix kernels ("align1", "align2") when a size or an address is not a multiple of 16 bytes.
return {
  id        = "precision/unaligned-shapes",
  title     = "Make the rows of matrices multiples of 16 bytes",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 70,
  explains  = { "kernel/hot", "step/low-mfu" },
  knowledge = { "K-H1" },
  effort    = "code",

  needs      = { "precision.unaligned.share", "precision.unaligned.count", "precision.unaligned.lost", "precision.unaligned.remedy",
                 "window.device_time" },
  optional   = { "roofline.shapes.odd.top", "roofline.shapes.odd.elements" },
  thresholds = { "min_share" },

  symptom = "Matrix kernels for unaligned sizes take {share:pct} of the time: {count:count} {per:text}{example:text}.",
  cause   = "Tensor cores load operands in pieces of 16 bytes: 8 elements of 16 bits, or 4 of FP32. Rows of another length force a kernel that loads element by element.",
  fixes   = {
    { reason = "batched", action = "Pad the rows of these products with zeros when the tensors are made, to a multiple of 16 bytes, and cut the result",
      snippet = "x = torch.nn.functional.pad(x, (0, -x.shape[-1] % 8))   # zeros after each row: 8 elements of 16 bits are 16 bytes",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "!batched", action = "Pad the size that these layers share, such as a vocabulary, a number of classes or of features; 64 elements suit large tiles, too",
      snippet = "padded = 64 * ((features + 63) // 64)\nlayer = torch.nn.Linear(hidden, padded)   # ignore the outputs past the last feature",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Where the length of sequences is the odd size, pad them to a multiple of 8 when batches are built",
      snippet = "collate = DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8)", language = "python", ["for"] = { "python" } },
    { action = "In CUDA C++, make leading dimensions and pointers multiples of 16 bytes; odd offsets into a buffer also break alignment", ["for"] = { "c++" } },
  },
  false_positives = "Products so small that padding would add more work than alignment saves.",
  references = { "nvidia/tensor-core-alignment" },

  applies = function(f) return f.precision.unaligned.count > 0, "no matrix kernel was chosen for unaligned sizes" end,

  detect = function(f, t)
    local unaligned = f.precision.unaligned
    local lost = share(unaligned.lost.time, f.window.device_time)
    if not at_least(lost, t.min_share) then return nil end
    local odd = f.roofline.shapes.odd
    local example = ""
    if odd.top and odd.elements then
      example = "; in " .. odd.top .. ", rows are " .. in_words(odd.elements, "count") .. " elements apart"
    end
    -- Products of two activations have no layer whose size could be another one.
    local batched = odd.top and contains(odd.top, "bmm")
    return { share = lost, compute_share = unaligned.share, count = unaligned.count, example = example,
             reason = batched and "batched" or nil }
  end,

  saving = { claims = "precision.unaligned.lost", remedy = "precision.unaligned.remedy", confidence = 0.6,
             basis = "the same products run at the rate of aligned kernels" },

  tests = {
    { name = "the output layer has an odd vocabulary and takes a fifth of the time",
      edges = { ["precision.unaligned.lost"] = 3e7 },
      facts = { window = { device_time = 1e9 },
                precision = { unaligned = { share = 0.22, count = 3, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, compute_share = 0.22, count = 3 },
      saving = { claims = 2e8 } },
    { name = "recorded sizes name the product",
      facts = { window = { device_time = 1e9 },
                roofline = { shapes = { odd = { top = "aten::mm [512, 1024] x [1024, 50257] in bf16", elements = 50257 } } },
                precision = { unaligned = { share = 0.22, count = 3, lost = 2e8, remedy = true } } },
      expect = { share = 0.2, example = "; in aten::mm [512, 1024] x [1024, 50257] in bf16, rows are 50,257 elements apart" },
      saving = { claims = 2e8 } },
    { name = "a product of two activations has no layer to pad",
      facts = { window = { device_time = 1e9 },
                roofline = { shapes = { odd = { top = "aten::bmm [1024, 647, 96] x [1024, 96, 30]", elements = 30 } } },
                precision = { unaligned = { share = 0.22, count = 3, lost = 2e8, remedy = true } } },
      expect = { reason = "batched" } },
    { name = "near miss: a small odd product",
      facts = { window = { device_time = 1e9 },
                precision = { unaligned = { share = 0.02, count = 3, lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "all sizes are even",
      facts = { window = { device_time = 1e9 }, precision = { unaligned = { share = 0, count = 0, lost = 0, remedy = true } } },
      expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
