-- For each expert of a layer, small kernels gather its rows, multiply them and add the result to the others, one expert
-- after the other. Each kernel is too small for the GPU, and takes the host longer to launch than the GPU to run. Graphs
-- and compilers do not help: how many rows an expert has is known only in the loop.
return {
  id        = "moe/looped-experts",
  title     = "Use one grouped product for the rows of all experts",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 66,
  explains  = { "launch/tiny-kernels", "launch/tiny-pieces", "launch/loop-over-pieces", "launch/bound", "launch/graph-candidate",
                "kernel/many-tiny", "kernel/small-gemm-trains", "kernel/small-grid", "kernel/low-concurrency", "host/cpu-bound",
                "sync/data-dependent-shapes", "sync/item-in-loop" },
  knowledge = { "K-H6", "K-C3", "K-F2" },

  loss           = "kernel.expert_loop",
  not_applicable = "no loop gathers rows, multiplies them and adds the result, round after round",
  evidence       = { "count", "experts" },
  thresholds     = { "min_share" },

  symptom = "Rows are gathered, multiplied and added to the result by small kernels, {experts:count} times in a row{average:text}. Such loops span {share:pct} of the time.",
  cause   = "The host loops over experts and launches each kernel for one of them. Launching takes longer than the kernel, and the rows of one expert fill a part of the SMs.",
  fixes   = {
    { action  = "Use the grouped implementation of the experts (Transformers 5, with PyTorch 2.9 or later)",
      snippet = 'model = AutoModelForCausalLM.from_pretrained(name, dtype="auto", experts_implementation="grouped_mm")',
      language = "python", ["for"] = { "pytorch" } },
    { action = "In your own code, sort the rows by expert, and use one grouped product for all of them",
      snippet = [[order = experts.argsort()                       # the expert of each row
ends = torch.bincount(experts, minlength=len(weights)).cumsum(0).to(torch.int32)   # stays on the GPU
y = torch._grouped_mm(x[order], weights, offs=ends)      # newer versions: F.grouped_mm; weights: experts, inner, outer]],
      language = "python", ["for"] = { "pytorch" } },
    { action = "In training with Megatron-Core, use its grouped product", snippet = "--moe-grouped-gemm", language = "bash", ["for"] = { "pytorch", "training" } },
    { action = "Serve the model with vLLM or SGLang, which fuse the experts", ["for"] = { "inference" } },
  },
  false_positives = "Graph networks that loop over kinds of edges: they need a segmented product.",
  references = { "pytorch/tuning-guide" },

  detect = function(f, t, e)
    e.average = e.count > 1 and " (on average)" or ""
    return e
  end,

  saving = { confidence = 0.7, basis = "one launch does the work of all rounds, and its blocks run in parallel" },

  tests = {
    { name = "each layer loops over 64 experts",
      edges = { ["kernel.expert_loop.lost"] = 2e7 },
      facts = { kernel = { expert_loop = { count = 100, lost = 6e8, remedy = true, experts = 64 } }, window = { device_time = 1e9 } },
      expect = { count = 100, experts = 64, share = 0.6, average = " (on average)" },
      saving = { claims = 6e8 } },
    { name = "near miss: hardly any time",
      facts = { kernel = { expert_loop = { count = 2, lost = 1e7, remedy = true, experts = 8 } }, window = { device_time = 1e9 } },
      expect = "silent" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
    { name = "one grouped product",
      facts = { kernel = { expert_loop = { count = 0, lost = 0, remedy = true, experts = 0 } }, window = { device_time = 1e9 } },
      expect = "not_applicable" },
  },
}
