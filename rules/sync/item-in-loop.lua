-- The host reads a few bytes from the GPU, or sends a few bytes and waits for them, in every step: .item(), .cpu(),
-- print(tensor), "if tensor:", torch.tensor(number).to(device). The copy is nothing; the wait lets the queue run empty,
-- and the GPU idles until the host is ahead again.
-- What moves a small tensor, not a number.
local moving = { ["aten::to"] = true, ["aten::_to_copy"] = true, ["aten::copy_"] = true }
-- Grow trees on the GPU, and read after each level where to split next: no user can change that loop.
local libraries = { XGBoost = true, LightGBM = true }
local engines = { vLLM = true, SGLang = true, ["TensorRT-LLM"] = true }

-- What reads the values, by the kernel that most often runs last before the copy: mixed precision tests whether gradients have
-- overflowed, and the search for anomalies tests each gradient for NaN.
local function reader_of(kernel, per_step, t)
  if matches(kernel, "*amp_foreach_non_finite*") or matches(kernel, "*amp_non_finite_check*") then return "scaler" end
  local tests = matches(kernel, "*or_kernel_cuda*") or matches(kernel, "*isnan*")
  return tests and at_least(per_step, t.tests) and "anomaly" or nil
end
-- Chooses a token or a class of each sample.
local function chooses(kernel)
  return matches(kernel, "*argmax*") or matches(kernel, "*sampling*") or matches(kernel, "*multinomial*")
end
local READS = { scaler = "; most read the flag of the gradient scaler", anomaly = "; most read whether a value is not a number" }

return {
  id        = "sync/item-in-loop",
  title     = "Remove tiny copies that block the host",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  topic     = "waits",
  effort    = "code",
  priority  = 78,
  explains  = { "sync/host-busy-wait", "launch/host-op-overhead", "host/cpu-bound", "transfer/exposed-copy", "host/tensor-conversions" },
  knowledge = { "K-C6", "K-A5" },

  loss           = "sync.item",
  not_applicable = "the host waits for no tiny copies",
  evidence       = { "count", "per_step", "operator", "source", bytes = "median_bytes" },
  needs          = { "sync.item.direction" },
  optional       = { "sync.item.most_bytes", "sync.item.code", "sync.item.operator", "sync.item.source", "run.decode", "run.framework", "run.unit", "window.supports_verdict", "run.kind",
                     "startup.time", "calls.graph_capture.lost", "sync.item.kernel" },
  thresholds     = { "min_share", "often", "seldom", "much_for_seldom", "per_token", "min_count_of_pass", "max_start_up", "much_code", "captures", "tests" },

  symptom = "The host waits for a copy of {size:text} {way:text}, {per_step:num} times {per:text}{op_text:text}. Around these waits, the GPU computes nothing for {share:pct} of the time.",
  cause   = "Each wait empties the queue, and the GPU is idle until the host {until_when:text}.",
  fixes   = {
    { reason = "scaler", action = "Train in bfloat16, which needs no gradient scaler, or use a fused optimizer, which reads the scaler's flag on the GPU",
      snippet = "optimizer = torch.optim.AdamW(model.parameters(), lr=lr, fused=True)     # then scaler.step(optimizer) does not wait",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "anomaly", action = "Turn the search for anomalies off: it tests every gradient, and reads each result",
      snippet = "torch.autograd.set_detect_anomaly(False)      # and remove tests such as: if torch.isnan(x).any()",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "token", action = "Give generate() a static cache: it then compiles the decoding step, and each check for the end costs less",
      snippet = 'model.generation_config.cache_implementation = "static"\nout = model.generate(**inputs, max_new_tokens=200)',
      language = "python", ["for"] = { "hugging face transformers" } },
    { reason = "read", action = "Leave results on the GPU, and read many of them at once: float(), print() and numpy.asarray() wait",
      snippet = "results.append(score)                # a JAX array: no float(score) here\nif len(results) == 100:\n    print(jax.device_get(results)); results.clear()", language = "python", ["for"] = { "jax" } },
    { reason = "read", action = "Leave scalars on the GPU, and test for convergence every N steps: float() and comparisons wait",
      snippet = [[residual = cupy.linalg.norm(x - y)       # an array without dimensions: no float(residual) here
converged = step % 100 == 0 and float(residual) < limit]], language = "python", ["for"] = { "cupy" } },
    { reason = "token", action = "Test for the end of the text only every few tokens, and choose the next token on the GPU" },
    { reason = "moved", action = "Keep the tensor on the GPU, or copy it to pinned memory and read it one step later",
      snippet = [[staging.copy_(values, non_blocking=True); copied.record()     # instead of: values.to("cpu"); staging: pinned
# one step later: copied.synchronize(), then read staging]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "read", action  = "Accumulate on the GPU, and read the number every N steps",
      snippet = [[total += loss.detach()               # instead of: total += loss.item()
if step % 100 == 0:
    print(total.item() / 100); total.zero_()]],
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "read", action = "Keep results on the GPU, and read many of them at once",
      snippet = [[results.append(score)                # a tensor: no .item() here
if len(results) == 100:
    print(torch.stack(results).tolist()); results.clear()]],
      language = "python", ["for"] = { "pytorch", "inference" } },
    { reason = "read", action  = "Decide on the GPU instead of branching on a value",
      snippet = [[x = torch.where(mask, a, b)          # instead of: if mask.any(): ...
x = x * scale_tensor                 # instead of: x * scale_tensor.item()]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "sent", action  = "Create small tensors on the GPU, or keep one pinned buffer for them",
      snippet = [[n = torch.full((1,), length, device=device)      # no copy from the host
staging = torch.empty(1, pin_memory=True)        # once; then, in the loop:
staging[0] = length; n = staging.to(device, non_blocking=True)   # before its next use: wait for the copy's event]],
      language = "python", ["for"] = { "pytorch" } },
    { reason = "code", action = "If the code after the wait needs the value, shorten that code, or run it one step later, while the GPU computes the next step" },
    { action  = "Let PyTorch point at the lines that wait",
      snippet = 'torch.cuda.set_sync_debug_mode("warn")', language = "python", ["for"] = { "pytorch" } },
    { reason = "read", action = "In CUDA C++, leave on the GPU what only kernels need, such as the dot products of conjugate gradients",
      snippet = "cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);\ncublasDdot(handle, n, p, 1, q, 1, pq);   // pq: in device memory; the next kernel reads it there", language = "cpp", ["for"] = { "c++" } },
    { reason = "read", action = "In CUDA C++, where the host only tests for convergence, read the value every N steps",
      snippet = "if (step % 100 == 0) {   // host_value: pinned\n  cudaMemcpyAsync(host_value, value, bytes, cudaMemcpyDeviceToHost, stream);\n  cudaEventRecord(copied, stream);   // read the value after this event\n}", language = "cpp", ["for"] = { "c++" } },
    { action = "With OpenACC or OpenMP, keep on the device what only kernels need, and update the host copy for a test of convergence every N steps", ["for"] = { "openacc", "openmp", "fortran" } },
  },
  false_positives = "A loop that needs the value on the host to continue, such as token-by-token generation with a stop test: test only every few tokens there. Where the content of the next upload depends on the value, that upload cannot be sent earlier.",
  references = { "pytorch/tuning-guide", "pytorch/cuda-semantics" },

  applies = function(f, t)
    if f.window.supports_verdict == false then
      -- The layers of one warm pass wait again and again, and so will those of the next.
      if f.run.kind == "kernels" or f.run.kind == "start-up" or not at_least(f.sync.item.count, t.min_count_of_pass) then
        return false, "too little of a loop was recorded: a start, a single pass or a few steps"
      end
      if f.startup.time and at_least(share(f.startup.time, f.window.device_time), t.max_start_up) then
        return false, "the only pass loads code or allocates memory, as first passes do"
      end
    end
    return f.sync.item.count > 0, "the host waits for no tiny copies"
  end,

  detect = function(f, t, e)
    if libraries[f.run.framework or ""] then return nil end
    if not at_least(e.per_step, t.often) and not (at_least(e.per_step, t.seldom) and at_least(e.share, t.much_for_seldom)) then
      return nil
    end
    -- Behind the wait, the program captures its graph anew: that is what the GPU waits for.
    local capture = f.calls.graph_capture.lost
    if capture and at_least(share(capture.time, f.sync.item.lost.time), t.captures) then return nil end
    local direction = f.sync.item.direction
    e.way = "from or to the GPU"
    if direction == "device to host" then e.way = "from the GPU" end
    -- The one result of a request is what was asked for.
    -- The next token starts from the last one, and the host must know it to stop. An engine reads it for all its requests.
    local most = f.sync.item.most_bytes or e.bytes
    e.size = (most == e.bytes and "" or "up to ") .. in_words(most, "bytes")
    local once = direction == "device to host" and at_most(e.per_step, t.per_token)
    if once and (engines[f.run.framework or ""] or f.run.unit == "request") then return nil end
    local token = once and f.run.decode
    -- What a pass has chosen is its result. The code behind it works with that, and is what costs.
    local code = at_least(share(f.sync.item.code or 0, f.sync.item.lost.time), t.much_code)
    if once and code and f.run.kind == "inference" and (token or chooses(f.sync.item.kernel or "")) then return nil end
    if direction == "host to device" then e.way = "to the GPU" end
    e.ways = {}
    if direction == "device to host" and not token and moving[e.operator or ""] then table.insert(e.ways, { reason = "moved" }) end
    local reader = direction == "device to host" and reader_of(f.sync.item.kernel or "", e.per_step, t)
    if e.way ~= "to the GPU" then table.insert(e.ways, { reason = reader or token and "token" or "read" }) end
    if e.way ~= "from the GPU" then table.insert(e.ways, { reason = "sent" }) end
    e.until_when = code and "has run more code, and launched work again" or "has launched enough work again"
    if code then table.insert(e.ways, { reason = "code" }) end
    e.op_text = e.operator and "; most come from " .. e.operator .. (e.source and " in " .. e.source or "")
      or e.source and "; most come from " .. e.source or ""
    if reader then e.op_text = READS[reader] end
    return e
  end,

  saving = { confidence = 0.85, basis = "the host does not wait and stays ahead of the GPU" },

  tests = {
    { name = "a start shows no loop", facts = { window = { supports_verdict = false }, run = { kind = "start-up" } }, expect = "not_applicable" },
    { name = "the gradient scaler reads its flag",
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 120, per_step = 1, median_bytes = 4, direction = "device to host", kernel = "void multi_tensor_apply_kernel<_amp_foreach_non_finite_check_and_unscale_cuda_>(int)", lost = 2e8, remedy = true } } },
      expect = { op_text = "; most read the flag of the gradient scaler", ways = { { reason = "scaler" } } } },
    { name = "every gradient is tested",
      edges = { ["sync.item.per_step"] = 15 },
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 3600, per_step = 120, median_bytes = 1, direction = "device to host", kernel = "void reduce_kernel<ReduceOp<bool, or_kernel_cuda>>(int)", lost = 2e8, remedy = true } } },
      expect = { op_text = "; most read whether a value is not a number", ways = { { reason = "anomaly" } } } },
    { name = "near miss: a flag is read once a step",
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 30, per_step = 1, median_bytes = 1, direction = "device to host", kernel = "void reduce_kernel<ReduceOp<bool, or_kernel_cuda>>(int)", lost = 2e8, remedy = true } } },
      expect = { op_text = "", ways = { { reason = "read" } } } },
    { name = "a graph is captured anew behind each wait, for most of the time",
      edges = { ["calls.graph_capture.lost"] = 2.4e8 },
      facts = { window = { device_time = 1e9 }, calls = { graph_capture = { lost = 3e8 } },
                sync = { item = { count = 120, per_step = 1, median_bytes = 4096, direction = "device to host", lost = 4e8, remedy = true } } },
      expect = "silent" },
    { name = "the layers of one pass send a number each",
      edges = { ["sync.item.count"] = 15, ["startup.time"] = 3e7 },
      facts = { window = { device_time = 6e8, supports_verdict = false }, run = { kind = "one-pass" }, startup = { time = 0 },
                sync = { item = { count = 33, per_step = 33, median_bytes = 8, direction = "host to device", lost = 5.6e7, remedy = true } } },
      expect = { way = "to the GPU", ways = { { reason = "sent" } } }, saving = { claims = 5.6e7 } },
    { name = "the first pass loads code",
      facts = { window = { device_time = 6e8, supports_verdict = false }, run = { kind = "one-pass" }, startup = { time = 1e8 },
                sync = { item = { count = 33, per_step = 33, median_bytes = 8, direction = "host to device", lost = 5.6e7, remedy = true } } },
      expect = "not_applicable" },
    { name = "a loop of one's own reads each token",
      edges = { ["sync.item.lost"] = 5e5, ["sync.item.per_step"] = 1 },
      facts = { window = { device_time = 1e9 }, run = { decode = true },
                sync = { item = { count = 200, per_step = 1, median_bytes = 8, direction = "device to host", lost = 3e7, remedy = true } } },
      expect = { way = "from the GPU" } },
    { name = "near miss: tokens are read once, and the scheduler of the next ones runs for longer than the wait",
      facts = { window = { device_time = 1e9 }, run = { kind = "inference" },
                sync = { item = { count = 28, per_step = 1, median_bytes = 1024, direction = "device to host", code = 3.2e8, lost = 3.3e8, remedy = true,
                                  kernel = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float> > >" } } },
      expect = "silent" },
    { name = "six reads behind every eleventh iteration of an inner loop",
      edges = { ["sync.item.lost"] = 5e7, ["sync.item.per_step"] = 0.25 },
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 252, per_step = 0.54, median_bytes = 4, direction = "device to host", lost = 1.9e8, remedy = true } } },
      expect = { way = "from the GPU", per_step = 0.54 } },
    { name = "near miss: the token that an engine has just made",
      edges = { ["sync.item.per_step"] = 1.5 },
      facts = { window = { device_time = 1e9 }, run = { decode = true, framework = "vLLM" },
                sync = { item = { count = 200, per_step = 1, median_bytes = 8, direction = "device to host", lost = 1.2e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: a library that grows trees reads where to split",
      facts = { window = { device_time = 1e9 }, run = { framework = "XGBoost" },
                sync = { item = { count = 200, per_step = 8, median_bytes = 48, direction = "device to host", lost = 1.2e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the result of each request",
      edges = { ["sync.item.per_step"] = 1.5 },
      facts = { window = { device_time = 1e9 }, run = { unit = "request" },
                sync = { item = { count = 200, per_step = 1, median_bytes = 4000, direction = "device to host", lost = 2e7, remedy = true } } },
      expect = "silent" },
    { name = "near miss: an engine whose kernels do not say that they decode",
      facts = { window = { device_time = 1e9 }, run = { framework = "vLLM" },
                sync = { item = { count = 200, per_step = 1, median_bytes = 256, direction = "device to host", lost = 1.2e8, remedy = true } } },
      expect = "silent" },
    { name = "a framework's trace names the operator and the line",
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 200, per_step = 10, median_bytes = 4, direction = "device to host", lost = 1.2e8,
                                  remedy = true, operator = "aten::item", source = "train.py(62): step" } } },
      expect = { operator = "aten::item", op_text = "; most come from aten::item in train.py(62): step", ways = { { reason = "read" } } } },
    { name = "small tensors are moved to the host",
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 200, per_step = 10, median_bytes = 64, most_bytes = 7832, direction = "device to host",
                                  lost = 1.2e8, remedy = true, operator = "aten::to" } } },
      expect = { size = "up to 7.83 kB", ways = { { reason = "moved" }, { reason = "read" } } } },
    { name = "ten .item() calls a step",
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 200, per_step = 10, median_bytes = 4, direction = "device to host", lost = 1.2e8,
                                  remedy = true } } },
      expect = { share = 0.12, count = 200, per_step = 10, bytes = 4, size = "4 B", way = "from the GPU", op_text = "" },
      saving = { claims = 1.2e8, confidence = 0.85 } },
    { name = "the host works on what it reads",
      edges = { ["sync.item.code"] = 6e7 },
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 20, per_step = 1, median_bytes = 4096, direction = "device to host", lost = 1.2e8, code = 1e8,
                                  remedy = true } } },
      expect = { until_when = "has run more code, and launched work again", ways = { { reason = "read" }, { reason = "code" } } } },
    { name = "small tensors are sent and waited for",
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 33, per_step = 33, median_bytes = 8, direction = "host to device", lost = 7e7, code = 0,
                                  remedy = true } } },
      expect = { share = 0.07, way = "to the GPU", until_when = "has launched enough work again" } },
    { name = "near miss: every step, behind a full queue",
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 20, per_step = 1, median_bytes = 4, direction = "device to host", lost = 2e5, remedy = true } } },
      expect = "silent" },
    { name = "near miss: the loss is logged every fiftieth step",
      facts = { window = { device_time = 1e9 },
                sync = { item = { count = 2, per_step = 0, median_bytes = 4, direction = "d2h", lost = 1.5e7, remedy = true } } },
      expect = "silent" },
    { name = "nothing is read back", facts = { window = { device_time = 1e9 }, sync = { item = { count = 0 } } },
      expect = "not_applicable" },
    { name = "calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
