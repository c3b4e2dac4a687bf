-- No named ranges: phases are guessed from kernels, and host time has no names.
return {
  id        = "capture/no-ranges",
  title     = "Name the phases of the step with NVTX ranges",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-O2", "K-G6" },
  effort    = "code",
  own_steps = true,
  topic     = "unnamed-steps",

  needs      = { "capture.has_ranges", "run.ops" },
  optional   = { "steps.source" },
  thresholds = { "min_ops" },

  symptom = "The capture has no named ranges, so {steps:text}.",
  cause   = "Ranges tie GPU work and host time to phases of the program. Without them, the report can only guess what is forward, backward, data loading or logging.",
  fixes   = {
    { action = "Put ranges around the phases of the step",
      snippet = "for i, (x, y) in enumerate(loader):\n    with torch.cuda.nvtx.range(f\"step {i}\"):\n" ..
                "        with torch.cuda.nvtx.range(\"forward\"):\n            loss = loss_fn(model(x), y)\n" ..
                "        with torch.cuda.nvtx.range(\"backward\"):\n            loss.backward()\n" ..
                "        with torch.cuda.nvtx.range(\"optimizer\"):\n            optimizer.step()",
      language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Have the profiler name them: autograd's operators, or a list of Python functions",
      snippet = "with torch.autograd.profiler.emit_nvtx():\n    train()", language = "python", ["for"] = { "pytorch" } },
    { action = "In CUDA C++, use NVTX: it is header-only",
      snippet = "#include <nvtx3/nvtx3.hpp>\nnvtx3::scoped_range step{\"step\"};", language = "cpp", ["for"] = { "c++" } },
    { action = "Record the ranges", snippet = "nsys profile --trace=cuda,nvtx,osrt -o report -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Put ranges around the steps (Python package nvtx)",
      snippet = "import nvtx\nwith nvtx.annotate(\"step\"):\n    params, loss = train_step(params, batch)\n    loss.block_until_ready()   # only while profiling: the call returns early", language = "python", ["for"] = { "jax", "training" } },
  },
  false_positives = "Programs without phases, such as a benchmark of one kernel.",
  references = { "pytorch/nvtx", "nsys/pytorch", "nsys/user-guide" },

  applies = function(f) return not f.capture.has_ranges, "named ranges were recorded" end,

  detect = function(f, t)
    if not at_least(f.run.ops, t.min_ops) then return nil end
    local source = f.steps.source
    local steps = "no steps were found"
    if source ~= nil then steps = "steps were found from the repeating GPU work" end
    return { ops = f.run.ops, steps = steps }
  end,

  tests = {
    { name = "a long run without ranges",
      edges = { ["run.ops"] = 100 },
      facts = { run = { ops = 7328 }, steps = { source = "period" }, capture = { has_ranges = false } },
      expect = { ops = 7328, steps = "steps were found from the repeating GPU work" } },
    { name = "nor could steps be found",
      facts = { run = { ops = 5000 }, capture = { has_ranges = false } },
      expect = { ops = 5000, steps = "no steps were found" } },
    { name = "near miss: a program of a few kernels has no phases",
      facts = { run = { ops = 8 }, capture = { has_ranges = false } },
      expect = "silent" },
    { name = "there are ranges", facts = { run = { ops = 5000 }, capture = { has_ranges = true } }, expect = "not_applicable" },
    { name = "no GPU work was recorded", facts = { capture = { has_ranges = false } }, expect = "cannot_tell" },
  },
}
