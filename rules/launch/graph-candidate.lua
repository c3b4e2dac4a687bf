-- A launch-bound run whose steps all launch exactly the same kernels with the same grids, with nothing between that a
-- capture forbids (waits, allocations, pageable copies), but for one place per step: there the graph ends and begins
-- anew. Record the sequence once as a CUDA graph, replay it by one call.
-- Where the sequence varies, launch/bound says what else helps.
return {
  id        = "launch/graph-candidate",
  title     = "Capture the launches as a CUDA graph",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 55,
  explains  = { "launch/bound", "launch/tiny-kernels", "launch/host-op-overhead", "host/cpu-bound" },
  knowledge = { "K-H6" },

  needs_loop     = true,
  loss           = "launch.nodes",
  applies        = "launch.sequence.length",
  not_applicable = "no sequence of kernels repeats",
  evidence       = { empty = "launch.queue_empty", length = "launch.sequence.length", same = "launch.sequence.same",
                     steps = "steps.count", breaks = "launch.sequence.breaks", gap = "launch.gap.median" },
  optional       = { "launch.call.median", "launch.gap.median", "launch.graph.lost", "launch.graph.remedy", "launch.nodes.remedy", "run.decode" },
  thresholds     = { "min_share", "min_same", "min_steps", "min_length", "max_breaks", "max_call" },

  symptom = "The host launches the same {length:count} kernels for {same:pct} of the steps, and nothing between them rules out a graph. The GPU waits for that {share:pct} of the time.",
  cause   = "The host launches one kernel at a time. The GPU waits for these launches and for the host's work after them. Inside a graph, the gap from one kernel to the next is shorter, too.",
  fixes   = {
    { action  = "Let the compiler record the graphs",
      snippet = 'model = torch.compile(model, mode="reduce-overhead")   # the model: .backward() inside a compiled function breaks the graph', language = "python", ["for"] = { "pytorch", "training" } },
    { action  = "Let the compiler record the graphs",
      snippet = 'model = torch.compile(model, mode="reduce-overhead")', language = "python", ["for"] = { "pytorch", "inference" } },
    { action  = "Capture the launches yourself: use fixed shapes, and copy inputs into fixed buffers",
      snippet = [[# in training, Adam and AdamW need capturable=True; SGD does not
graph = torch.cuda.CUDAGraph()             # after some warm-up steps on a side stream
with torch.cuda.graph(graph):
    static_out = step(static_in)
for batch in loader:
    static_in.copy_(batch, non_blocking=True)
    graph.replay()]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "Capture the launches as a graph: keep shapes fixed, and write results into the same arrays",
      snippet = [[stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    step()                                # once, so that memory is allocated and kernels are compiled
    stream.begin_capture()
    step()
    graph = stream.end_capture()
graph.launch(stream)                      # each step]],
      language = "python", ["for"] = { "cupy" } },
    { action  = "In CUDA C++, capture the stream",
      snippet = [[cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
step(stream);
cudaStreamEndCapture(stream, &graph);
cudaGraphInstantiate(&executable, graph, 0);
cudaGraphLaunch(executable, stream);       // each step]],
      language = "cpp", ["for"] = { "c++" } },
    { action = "If Python runs operations one by one, compile all operations of a step with jax.jit: XLA then fuses them, and launches them from C++",
      snippet = "step = jax.jit(step)                # the whole step, not functions inside it", language = "python", ["for"] = { "jax" } },
    { action = "Let XLA launch series of kernels as CUDA graphs (command buffers)",
      snippet = "export XLA_FLAGS=\"--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUDNN --xla_gpu_graph_min_graph_size=1\"", language = "bash", ["for"] = { "jax" } },
  },
  false_positives = "Identical kernels may still read values that change on the host (a learning rate, a length). Put these into GPU tensors first.",
  references = { "pytorch/cuda-graphs", "cuda-programming/graphs", "pytorch/compile" },

  detect = function(f, t, e)
    if not at_most(f.launch.call.median or 0, t.max_call) then return nil end
    -- For a few percent between kernels that were in the queue, a graph is worth it where it is usual: where tokens are generated.
    if f.run.decode or not f.launch.graph.lost then return e end
    e.share = share(f.launch.graph.lost.time, f.window.device_time)
    return at_least(e.share, t.min_share) and e or nil
  end,

  saving = function(f)
    local of = (f.run.decode or not f.launch.graph.lost) and f.launch.nodes or f.launch.graph
    return { claims = of.lost, remedy = of.remedy, confidence = 0.8, basis = "one launch per step replaces the others, with no host code between kernels" }
  end,

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "decoding launches the same 400 kernels each time",
      edges = { ["launch.nodes.lost"] = 2e7, ["launch.graph.lost"] = 2e7, ["launch.sequence.length"] = 10, ["launch.sequence.same"] = 0.95, ["steps.count"] = 5 },
      facts = { window = { device_time = 1e9 }, steps = { count = 60 },
                launch = { queue_empty = 0.95, gap = { median = 6000 }, sequence = { length = 400, same = 1, breaks = 0 },
                           nodes = { lost = 4e8, remedy = true }, graph = { lost = 4e8, remedy = true } } },
      expect = { share = 0.4, empty = 0.95, length = 400, same = 1, steps = 60, breaks = 0, gap = 6000 },
      saving = { claims = 4e8, confidence = 0.8 } },
    { name = "tokens of many short kernels, which follow each other in the queue",
      facts = { window = { device_time = 1e9 }, steps = { count = 60 }, run = { decode = true },
                launch = { queue_empty = 0.02, sequence = { length = 180, same = 1, breaks = 0 }, nodes = { lost = 3.3e7, remedy = true }, graph = { lost = 0, remedy = true } } },
      expect = { share = 0.033, length = 180 }, saving = { claims = 3.3e7 } },
    { name = "near miss: so do the kernels of a training step, and the host comes in time",
      facts = { window = { device_time = 1e9 }, steps = { count = 60 },
                launch = { queue_empty = 0.02, sequence = { length = 400, same = 1, breaks = 0 }, nodes = { lost = 3.3e7, remedy = true }, graph = { lost = 8e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: each call is slow, whose cause comes first",
      edges = { ["launch.call.median"] = 3e4 },
      facts = { window = { device_time = 1e9 }, steps = { count = 60 },
                launch = { queue_empty = 0.95, call = { median = 6e4 }, sequence = { length = 400, same = 1, breaks = 0 },
                           nodes = { lost = 4e8, remedy = true }, graph = { lost = 4e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the same kernels, behind a full queue",
      facts = { window = { device_time = 1e9 }, steps = { count = 60 },
                launch = { queue_empty = 0.02, sequence = { length = 400, same = 1, breaks = 0 },
                           nodes = { lost = 5e6, remedy = true }, graph = { lost = 5e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: a wait inside each step",
      facts = { window = { device_time = 1e9 }, steps = { count = 60 },
                launch = { queue_empty = 0.95, sequence = { length = 400, same = 1, breaks = 2 },
                           nodes = { lost = 4e8, remedy = true }, graph = { lost = 4e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: shapes change from step to step",
      facts = { window = { device_time = 1e9 }, steps = { count = 60 },
                launch = { queue_empty = 0.95, sequence = { length = 400, same = 0.3, breaks = 0 },
                           nodes = { lost = 4e8, remedy = true }, graph = { lost = 4e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: only four steps",
      facts = { window = { device_time = 1e9 }, steps = { count = 4 },
                launch = { queue_empty = 0.95, sequence = { length = 400, same = 1, breaks = 0 },
                           nodes = { lost = 4e8, remedy = true }, graph = { lost = 4e8, remedy = true } } },
      expect = "silent" },
    { name = "whole graphs already", facts = { window = { device_time = 1e9 }, launch = { sequence = { length = 0 } } },
      expect = "not_applicable" },
    { name = "no steps were found", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
