-- The launching thread runs code that the report does not show, and the GPU waits for it. What the code is only ranges or CPU
-- samples can tell: a symptom that says where to look. It claims what no cause has claimed.

-- One pause before each step of inference, outside all operators, may as well be a wait for the next request.
local function may_await_requests(f, t)
  if f.run.request_waits ~= "as-code" or not f.steps.count then return false end
  return at_most(f.host.compute.lost.count, t.max_pauses_of_request * f.steps.count)
end

-- Code takes about as long in each step; requests come when they come.
local function comes_unevenly(f, t) return at_least(f.run.uneven_pauses or 0, t.as_requests) end

local function is_model(row) return matches(row.name, "*.py(*: forward*") or matches(row.name, "nn.Module:*") end

-- What the innermost range or function around the code says of it, and so what helps. Samples name functions without a further
-- capture.
local function ways_of(name, sampled)
  if sampled then return { "other" } end
  if not name then return { "unseen", "unnamed", "other" } end
  if matches(name, "*pure_callback*") or matches(name, "*io_callback*") then return { "callback", "unseen", "other" } end
  if matches(name, "OpenMP *") then return { "loop", "other" } end
  if is_model({ name = name }) then return { "model" } end
  if matches(name, "Optimizer.step*") or matches(name, "*optim*.py(*: step*") then return { "optimizer" } end
  if matches(name, "*.py(*") then return { "other" } end
  return { "unseen", "other" }
end

-- The innermost range or function that holds most of the time, and where most of it is, in words. The range of a whole step
-- says nothing of the place in it.
local function place_of(ranges, longest, lost)
  local named = filter(ranges, function(row) return not matches(row.name, "ProfilerStep#*") end)
  if 2 * sum(named, "time") <= lost then return nil, ", most of it in code that no named range covers" end
  if matches(longest.name, "ProfilerStep#*") then longest = top(named, "time", 1)[1] end
  if 2 * longest.time <= lost then
    local model = filter(named, is_model)
    if 2 * sum(model, "time") > lost then
      local first = top(model, "time", 1)[1].name
      return first, ", most of it in the model's functions, such as " .. first
    end
    return nil, ", spread over several ranges and functions"
  end
  return longest.name, (matches(longest.name, "*.py(*") and ", most of it in " or ", most of it in the range ") .. longest.name
end

-- What a batch is made of is copied right after it was made.
local function prepares_data(f, t)
  return at_least(share(f.host.compute.before_uploads or 0, f.host.compute.lost.time), t.min_before_uploads)
end

-- The program takes a result from the GPU, computes the next input from it and uploads that. A data loader needs no result,
-- so other processes can work ahead; here they cannot. In training this is an environment, or metrics of an evaluation; else
-- the next token. A server may prepare the next request meanwhile.
local function needs_result(f, t)
  if f.run.kind ~= "training" and not f.run.decode then return false end
  return at_least(share(f.host.compute.between_turns or 0, f.host.compute.lost.time), t.min_between_turns)
end

-- Whose results the code needs that lies between a result and the next input of a training run. An environment gets a few
-- actions, and takes about as long for each of them. Metrics are computed of the outputs of a model, or once for many results;
-- a single number may be a loss as well as an action.
local function users_of_results(f, t)
  local results = f.copy.d2h.count or 0
  local bytes = share(f.copy.d2h.bytes or 0, results)
  if results > 0 and not at_most(bytes, t.most_action) then return { "metrics" } end
  if results > 0 and at_most(bytes, t.most_loss) then
    -- A loss comes once per step; actions come several times.
    local often = f.steps.count and at_least(share(results, f.steps.count), t.often)
    return often and { "turns", "metrics" } or { "metrics", "turns" }
  end
  local alike = at_most((f.host.compute.longest or 0) * f.host.compute.lost.count, t.most_uneven * f.host.compute.lost.time)
  return alike and { "turns" } or { "metrics", "turns" }
end

-- The functions in which CPU samples saw most of the time, at most three; nil where more take it.
local function functions_of(rows)
  local all = sum(rows, "samples")
  local names, samples = {}, 0
  for _, row in ipairs(top(rows, "samples", 3)) do
    if 2 * samples <= all then
      table.insert(names, row.name)
      samples = samples + row.samples
    end
  end
  if all == 0 or 2 * samples <= all then return nil end
  return (#names > 1 and "the functions " or "the function ") .. table.concat(names, ", ")
end

-- What an operator that takes most of this time is for, where its name tells. Products on the CPU are layers of a model.
local kinds_of_work = { ["aten::pin_memory"] = "pins", ["TorchDynamo Cache Lookup"] = "guards", ["aten::addmm"] = "cpu-layers", ["aten::mm"] = "cpu-layers",
                        ["aten::bmm"] = "cpu-layers", ["aten::mkldnn_convolution"] = "cpu-layers", ["mkldnn::_linear_pointwise"] = "cpu-layers",
                        ["aten::embedding"] = "cpu-layers", ["aten::scaled_dot_product_attention"] = "cpu-layers" }

-- The operators of a framework that take most of the time, at most three; nil where operators take less than half of it.
local function operators_of(rows, lost)
  if 2 * sum(rows, "time") <= lost then return nil end
  local names = {}
  for _, row in ipairs(top(rows, "time", 3)) do table.insert(names, row.name) end
  local text = (#names > 1 and "operators on the CPU: " or "the operator ") .. table.concat(names, ", ") .. (#names > 1 and "" or " on the CPU")
  return text, kinds_of_work[names[1]] or "operators"
end

-- Reasons as rows of the evidence.
local function reasons(...)
  local rows = {}
  for _, reason in ipairs({ ... }) do table.insert(rows, { reason = reason }) end
  return rows
end

-- Facts for tests: unless `code` and `other` say otherwise, the GPU waits once in each of 20 steps, half of the time in all.
local function waiting(code, other)
  local facts = other or {}
  facts.window = facts.window or { device_time = 1e9 }
  facts.steps = facts.steps or { count = 20 }
  facts.host = { compute = code }
  code.remedy, code.lost, code.ranges = true, code.lost or { time = 5e8, count = 20 }, code.ranges or {}
  return facts
end

return {
  id        = "host/cpu-bound",
  title     = "Find out what the launching thread computes while the GPU waits",
  status    = "stable",
  since     = "0.1",
  kind      = "symptom",
  knowledge = { "K-B1", "K-A8", "K-A1", "K-G2" },
  effort    = "code",
  topic     = "host-code",
  priority  = 20,

  needs      = { "host.compute.lost", "host.compute.remedy", "host.compute.ranges", "window.device_time" },
  optional   = { "host.compute.code", "host.compute.functions", "host.compute.operators", "host.compute.before_uploads", "host.compute.between_turns", "host.compute.late_uploads", "host.compute.longest", "host.compute.steps", "idle.host_compute", "window.time",
                 "window.supports_verdict", "steps.count", "capture.has_ranges",
                 "copy.d2h.count", "copy.d2h.bytes", "run.request_waits", "run.uneven_pauses", "run.kind", "run.framework", "run.decode", "launch.count", "startup.time" },
  thresholds = { "min_share", "min_share_without_steps", "min_launches_of_pass", "max_start_up", "min_before_uploads", "min_between_turns", "most_uneven", "most_action", "most_loss", "min_late", "max_pauses_of_request", "as_requests", "often", "max_steps" },

  symptom = "The GPU waits for {what:text} for {share:pct} of the time{where:text}.{all_text:text}",
  cause   = "The thread that launches GPU work does something else first, so the next work reaches the GPU late.",
  fixes   = {
    { reason = "requests", action = "If this is a server, first see whether it had requests: record its waits in the OS as well",
      snippet = "nsys profile --trace=cuda,nvtx,osrt -o waits -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { reason = "once", action = "Record a second pass: if the pause does not come again, it was start-up, such as compiling or choosing algorithms",
      snippet = "for _ in range(3):\n    model(x)             # not recorded\nwith profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:\n    model(x)",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "once", action = "If the program repeats this work, record a second pass: a pause that does not come again was start-up",
      ["for"] = { "c++", "fortran", "openacc", "openmp", "mpi", "tensorflow", "jax", "cupy", "numba" } },
    { reason = "seldom", action = "Find out what the program does in these steps alone, such as a checkpoint, a log, an evaluation or a collection of garbage; do it on another thread, or less often" },
    { reason = "layers", action = "If layers of the model run on the CPU, put all of them on the GPU, or take a smaller quantization that fits",
      snippet = "llama-cli -m model.gguf -ngl 99        # --n-gpu-layers: more than the model has means all", language = "bash" },
    { reason = "callback", action = "Compute in JAX what the callback computes: the compiled function waits until Python is done", ["for"] = { "jax" } },
    { reason = "model", action = "Compile the model, so that its layers run without Python between the kernels",
      snippet = 'model = torch.compile(model, mode="reduce-overhead")', language = "python", ["for"] = { "pytorch" } },
    { reason = "model", action = "Move checks, hooks, logging and metrics out of the model's forward functions" },
    { reason = "optimizer", action = "Use an implementation that updates all parameters in a few kernels, or compile the update",
      snippet = "@torch.compile(fullgraph=False)\ndef update():\n    optimizer.step()", language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "optimizer", action = "Compute what does not change from step to step outside the update, such as lists of blocks and shapes" },
    { reason = "metrics", action = "If this code computes metrics or checks results, do that on the GPU, and copy only what comes out",
      snippet = "correct += (out.argmax(-1) == y).sum()     # on the GPU; read once, at the end of the evaluation",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "metrics", action = "Let another process compute metrics of copied results while training goes on", ["for"] = { "python" } },
    { reason = "turns", action = "If this code steps an environment, run several of them in processes, and infer for all of them in one batch",
      snippet = "import gymnasium\n\nenvs = gymnasium.vector.AsyncVectorEnv([make_env] * 16)     # one process each; a batch of 16 observations per step",
      language = "python", ["for"] = { "python" } },
    { reason = "turns", action = "Let two groups of environments take turns: while the model computes for one, the other steps", ["for"] = { "python" } },
    { reason = "turns", action = "Simulate on the GPU, so that no step waits for the host", ["for"] = { "python" } },
    { reason = "pins", action = "Let the loader pin its batches in a separate thread, or copy into one pinned buffer that you keep",
      snippet = "loader = DataLoader(dataset, num_workers=8, pin_memory=True)     # no x.pin_memory() in the loop", language = "python", ["for"] = { "pytorch" } },
    { reason = "guards", action = "Let torch.compile check less before each call: when all shapes have been compiled, leave out guards that can no longer fail",
      snippet = "torch.compiler.set_stance(skip_guard_eval_unsafe=True)     # after some steps; which guards there are: TORCH_LOGS=guards", language = "python", ["for"] = { "pytorch" } },
    { reason = "cpu-layers", action = "Move these layers to the GPU: their weights and inputs are on the CPU", snippet = 'model.to("cuda")     # all of it; inputs, too: x = x.to("cuda")',
      language = "python", ["for"] = { "pytorch" } },
    { reason = "operators", action = "Run these operators on the GPU: copy what they start from there first, and work on whole batches",
      snippet = "batch = batch.to(device, non_blocking=True)     # then: batch = augment(batch), on the GPU", language = "python", ["for"] = { "pytorch" } },
    { reason = "upload", action = "If this code loads or prepares data, let worker processes do it ahead of time, and copy from pinned memory",
      snippet = "loader = DataLoader(dataset, batch_size=batch_size, num_workers=8, pin_memory=True, persistent_workers=True)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "upload", action = "If this code prepares the next inputs, let another thread or process do that while the GPU works, and copy from pinned memory",
      ["for"] = { "pytorch" } },
    { reason = "upload", action = "If this code reads or prepares data, let another thread do that for the next piece while the GPU works on this one",
      ["for"] = { "c++", "fortran", "openacc", "openmp", "tensorflow", "jax", "cupy", "numba" } },
    { reason = "loop", action = "Run this parallel loop on the GPU, where its data already is",
      snippet = [[#pragma omp target teams distribute parallel for   // or: #pragma acc parallel loop
for (int i = 0; i < n; ++i) advance(state, i);]], language = "cpp", ["for"] = { "openmp", "openacc", "fortran", "c++" } },
    { reason = "unseen", action = "Sample the CPU to see which functions run in these gaps",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree --python-sampling=true -o cpu -- COMMAND", language = "bash", ["for"] = { "python", "nvidia" } },
    { reason = "unseen", action = "Sample the CPU to see which functions run in these gaps",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree -o cpu -- COMMAND", language = "bash", ["for"] = { "c++", "fortran", "openacc", "openmp", "mpi", "nvidia" } },
    { reason = "unseen", action = "Record call stacks, so that the report names the functions that run in these gaps",
      snippet = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)", language = "python", ["for"] = { "pytorch", "amd" } },
    { reason = "unnamed", action = "Name the phases of the loop, so that the report can say which one it is",
      snippet = "with torch.cuda.nvtx.range(\"metrics\"):\n    update_metrics(out, y)", language = "python", ["for"] = { "pytorch" } },
    { reason = "other", action = "Move this code off the launching thread (worker process, background thread, GPU), or run it while the GPU has queued work" },
    { reason = "other", action = "If this code does not need the latest results, launch the next GPU work before it, and synchronize after it",
      ["for"] = { "c++", "fortran", "openacc", "openmp" } },
    { reason = "other", action = "If this code needs the latest results, run it on the GPU, too: with the data already there, even a slow kernel saves the wait",
      ["for"] = { "c++", "fortran", "openacc", "openmp" } },
  },
  false_positives = "Programs that are meant to alternate between CPU and GPU.",
  references = { "nsys/pytorch", "pytorch/nvtx", "pytorch/profiler" },

  applies = function(f)
    -- The budget counts each nanosecond; what is lost here is in long pauses of the loop.
    local waits = (f.idle.host_compute or 0) > 0
    return f.host.compute.lost.time > 0,
           waits and "the GPU does not wait long for code on the launching thread; rules of launches judge short gaps"
           or "the GPU never waits for code on the launching thread"
  end,

  detect = function(f, t)
    local lost = share(f.host.compute.lost.time, f.window.device_time)
    -- Without steps the start belongs to what is analyzed, and code runs in it that no loop repeats.
    if not at_least(lost, f.steps.count and t.min_share or t.min_share_without_steps) then return nil end
    local rows = top(f.host.compute.ranges, "time", 5)
    local name, where = place_of(f.host.compute.ranges, rows[1], f.host.compute.lost.time)
    if not name and f.capture.has_ranges == false then where = "" end
    local functions = f.host.compute.functions or {}
    local uploads = not name and #functions == 0 and prepares_data(f, t)
    -- What few steps alone do is no batch, which every step needs.
    local few = f.host.compute.steps
    local seldom = not name and #functions == 0 and few and f.steps.count and at_most(share(few, f.steps.count), t.max_steps)
    if seldom then uploads = false end
    local result = uploads and needs_result(f, t)
    local users = result and f.run.kind == "training" and users_of_results(f, t) or {}
    local layers = uploads and f.run.framework == "llama.cpp"
    if uploads then where = ", most of it right before it copies data to the GPU, so this code probably prepares that data" end
    if result then where = ", most of it between a result that it takes from the GPU and the next input" end
    if users[1] == "turns" then where = where .. ", as an environment does" end
    if layers then where = ", most of it between a result and the next input, as when part of the model runs on the CPU" end
    local unknown = not name and #functions == 0 and not uploads
    local once = unknown and not f.steps.count and 2 * (f.host.compute.longest or 0) > f.host.compute.lost.time
    if seldom then where = ", most of it in " .. math.floor(few) .. " of the " .. math.floor(f.steps.count) .. " steps" end
    if once then where = ", most of it in one pause of " .. in_words(f.host.compute.longest, "time") end
    local seen = functions_of(functions)
    local operators, work = nil, nil
    if not seen then operators, work = operators_of(f.host.compute.operators or {}, f.host.compute.lost.time) end
    if seen then where = ", most of it in " .. seen .. (name and " in " .. name or "") end
    if operators then where = ", most of it in " .. operators .. (uploads and work == "operators" and "; the results then go to the GPU" or "") end
    local ways = {}
    local requests = not name and #functions == 0 and not operators and may_await_requests(f, t)
    if requests then
      table.insert(ways, "requests")
      where = ", or that thread waits for requests, which were not recorded"
      if comes_unevenly(f, t) then where = where .. ": it waits as unevenly as requests come" end
    end
    if once then table.insert(ways, "once") end
    if seldom and not requests then table.insert(ways, "seldom") end
    if layers then table.insert(ways, "layers") end
    for _, user in ipairs(users) do table.insert(ways, user) end
    if work then table.insert(ways, work) end
    -- The next batch may be loaded there as well: nothing tells whether the code needs the result.
    if uploads and (not result or users[1] == "metrics") and not layers and (not work or work == "operators") then table.insert(ways, "upload") end
    for _, reason in ipairs(ways_of(name, #functions > 0)) do table.insert(ways, reason) end
    -- Also while the GPU still had work: all of it goes when the code runs elsewhere.
    local code = math.max(lost, share(f.host.compute.code or 0, f.window.device_time))
    local percent = math.floor(100 * code + 0.5)
    local all_text = ""
    if percent > math.floor(100 * lost + 0.5) then
      all_text = " The launching thread runs CPU code for " .. percent .. " % of the time, part of it while the GPU works."
    end
    -- More than the first lines of the report call host code: what is launched late because of it counts as well.
    local what = "CPU code on the launching thread"
    if f.idle.host_compute and f.window.time then
      local told = share(f.idle.host_compute, f.window.time) + share(f.host.compute.late_uploads or 0, f.window.device_time)
      if math.floor(100 * lost + 0.5) > math.floor(100 * told + 0.5) + 1 then what = what .. ", and for launches that it delays," end
    end
    local late = share(f.host.compute.late_uploads or 0, f.host.compute.lost.time)
    if at_least(late, t.min_late) then
      local most = 2 * (f.host.compute.late_uploads or 0) > f.host.compute.lost.time
      if most and what == "CPU code on the launching thread" then what = what .. ", and for copies that it delays," end
      all_text = all_text .. (most and " Most" or " Part") .. " of the waiting shows as copies, since uploads start late."
    end
    return { what = what, share = lost, code = code, where = where, all_text = all_text, count = f.host.compute.lost.count, rows = rows, ways = reasons(table.unpack(ways)), pause = once and f.host.compute.longest or 0, requests = requests and 1 or 0 }
  end,

  saving = function(f, t, e)
    if e.requests > 0 and comes_unevenly(f, t) then return nil end
    if f.window.supports_verdict == false then
      -- One pass of a model is what later ones are like; a script, a test or a first pass is not.
      local kinds = { training = true, inference = true, ["one-pass"] = true, solver = true }
      if not kinds[f.run.kind or ""] or not at_least(f.launch.count or 0, t.min_launches_of_pass) then return nil end
      if f.startup.time and at_least(share(f.startup.time, f.window.device_time), t.max_start_up) then return nil end
    end
    return { claims = f.host.compute.lost, remedy = f.host.compute.remedy,
             -- One pause says nothing of whether the next pass has it, too.
             confidence = e.pause > 0 and 0.15 or 0.3, basis = "this code runs elsewhere, or while the GPU is working" }
  end,

  tests = {
    { name = "near miss: code of every other step, before a batch is copied",
      facts = waiting({ steps = 40, lost = 3.88e8, before_uploads = 3.88e8 }, { window = { device_time = 1.2e9 }, steps = { count = 100 }, capture = { has_ranges = false } }),
      expect = { where = ", most of it right before it copies data to the GPU, so this code probably prepares that data" } },
    { name = "code of few steps is no batch, though a batch follows it", edges = { ["host.compute.steps"] = 34 },
      facts = waiting({ steps = 32.3, lost = 3.88e8, before_uploads = 3.88e8 }, { window = { device_time = 1.2e9 }, steps = { count = 100 }, capture = { has_ranges = false } }),
      expect = { where = ", most of it in 32 of the 100 steps" } },
    { name = "half the time goes into metrics on the host", edges = { ["host.compute.lost"] = 1e8 },
      facts = waiting({ lost = { time = 5e8, count = 10 }, ranges = { { time = 1e8, name = "logging" }, { time = 4e8, name = "metrics" } } }, { steps = {} }),
      expect = { share = 0.5, where = ", most of it in the range metrics", all_text = "", count = 10, rows = { { name = "metrics" }, { name = "logging" } } },
      saving = { claims = 5e8, confidence = 0.3 } },
    { name = "the GPU has work left for most of the code", edges = { ["host.compute.lost"] = 2e7 }, facts = waiting({ lost = { time = 8e7, count = 10 }, code = 6e8 }),
      expect = { share = 0.08, code = 0.6, all_text = " The launching thread runs CPU code for 60 % of the time, part of it while the GPU works." } },
    { name = "operators on the CPU prepare the batch",
      facts = waiting({ operators = { { time = 1e8, name = "aten::flip" }, { time = 2e8, name = "aten::normal_" } }, before_uploads = 4.9e8 }, { capture = { has_ranges = true } }),
      expect = { where = ", most of it in operators on the CPU: aten::normal_, aten::flip; the results then go to the GPU" } },
    { name = "layers of the model run on the CPU",
      facts = waiting({ operators = { { time = 3e8, name = "aten::addmm" } }, before_uploads = 4.9e8 }, { capture = { has_ranges = true }, run = { kind = "inference", request_waits = "as-code" } }),
      expect = { where = ", most of it in the operator aten::addmm on the CPU", ways = reasons("cpu-layers", "unseen", "unnamed", "other") } },
    { name = "near miss: operators take the smaller part", facts = waiting({ operators = { { time = 1e8, name = "aten::flip" } }, before_uploads = 4.9e8 }, { capture = { has_ranges = true } }),
      expect = { where = ", most of it right before it copies data to the GPU, so this code probably prepares that data" } },
    { name = "one pass that launches a lot", edges = { ["launch.count"] = 50, ["startup.time"] = 5e7 },
      facts = waiting({ lost = { time = 5e8, count = 10 } }, { window = { device_time = 1e9, supports_verdict = false }, steps = {}, run = { kind = "training" }, launch = { count = 1100 }, startup = { time = 0 } }),
      expect = { share = 0.5 }, saving = { claims = 5e8, confidence = 0.3 } },
    { name = "one pass of a script with few kernels has no price",
      facts = waiting({ lost = { time = 5e8, count = 10 } }, { window = { device_time = 1e9, supports_verdict = false }, steps = {}, run = { kind = "one-pass" }, launch = { count = 11 }, startup = { time = 0 } }),
      expect = { share = 0.5 } },
    { name = "python functions were recorded", facts = waiting({ lost = { time = 5e8, count = 10 }, ranges = { { time = 4e8, name = "train.py(62): step" } } }, { steps = {} }),
      expect = { where = ", most of it in train.py(62): step", ways = reasons("other") } },
    { name = "the model's own layers are compiled, and not moved elsewhere",
      facts = waiting({ lost = { time = 5e8, count = 10 }, ranges = { { time = 4e8, name = "transformers/models/bert/modeling_bert.py(364): forward" } } }, { steps = {} }),
      expect = { ways = reasons("model") } },
    { name = "a callback to Python inside a compiled function",
      facts = waiting({ lost = { time = 5e8, count = 10 }, ranges = { { time = 4e8, name = "jit(day_callback)/pure_callback" } } }, { steps = {}, run = { kind = "solver" } }),
      expect = { where = ", most of it in the range jit(day_callback)/pure_callback", ways = reasons("callback", "unseen", "other") } },
    { name = "the update of the weights", facts = waiting({ lost = { time = 5e8, count = 10 }, ranges = { { time = 4e8, name = "Optimizer.step#Shampoo.step" } } }, { steps = {} }),
      expect = { where = ", most of it in the range Optimizer.step#Shampoo.step", ways = reasons("optimizer") } },
    { name = "a loop of OpenMP on the host", facts = waiting({ lost = { time = 5e8, count = 10 }, ranges = { { time = 4e8, name = "OpenMP parallel region" } } }, { steps = {} }),
      expect = { where = ", most of it in the range OpenMP parallel region", ways = reasons("loop", "other") } },
    { name = "without ranges it says so", facts = waiting({ lost = { time = 2e8, count = 5 } }, { steps = {} }),
      expect = { share = 0.2, where = ", most of it in code that no named range covers", rows = 0, ways = reasons("unseen", "unnamed", "other") } },
    { name = "a server may have waited for requests where no waits were recorded", edges = { ["host.compute.lost.count"] = 22 }, facts = waiting({}, { run = { request_waits = "as-code" } }),
      expect = { where = ", or that thread waits for requests, which were not recorded", ways = reasons("requests", "unseen", "unnamed", "other") } },
    { name = "pauses that last as unevenly as requests come promise nothing", edges = { ["run.uneven_pauses"] = 2.5 },
      facts = waiting({ lost = { time = 5e8, count = 20 } }, { run = { request_waits = "as-code", uneven_pauses = 4.8 } }),
      expect = { where = ", or that thread waits for requests, which were not recorded: it waits as unevenly as requests come" }, saving = { claims = 0 } },
    { name = "several pauses per token are code", facts = waiting({ lost = { time = 5e8, count = 60 } }, { run = { request_waits = "as-code" } }),
      expect = { where = ", most of it in code that no named range covers", ways = reasons("unseen", "unnamed", "other") } },
    { name = "the code ends with the upload of a batch", edges = { ["host.compute.before_uploads"] = 3.5e8 }, facts = waiting({ before_uploads = 4.8e8 }, { capture = { has_ranges = false } }),
      expect = { where = ", most of it right before it copies data to the GPU, so this code probably prepares that data", ways = reasons("upload", "unseen", "unnamed", "other") } },
    { name = "the code needs what the model has just computed: no loader can work ahead", edges = { ["host.compute.between_turns"] = 2.5e8 },
      facts = waiting({ before_uploads = 4.8e8, between_turns = 4e8 }, { capture = { has_ranges = false }, run = { kind = "training" } }),
      expect = { where = ", most of it between a result that it takes from the GPU and the next input, as an environment does", ways = reasons("turns", "unseen", "unnamed", "other") } },
    { name = "an environment answers each of a few actions", edges = { ["copy.d2h.bytes"] = 2e7, ["host.compute.longest"] = 1.25e8 },
      facts = waiting({ longest = 6e7, before_uploads = 4.8e8, between_turns = 4e8 }, { capture = { has_ranges = false }, run = { kind = "training" }, copy = { d2h = { count = 20, bytes = 10000 } } }),
      expect = { ways = reasons("turns", "unseen", "unnamed", "other") } },
    { name = "metrics of an evaluation, once for many results",
      facts = waiting({ lost = { time = 5e8, count = 58 }, longest = 1.2e8, before_uploads = 4.8e8, between_turns = 4e8 }, { capture = { has_ranges = false }, run = { kind = "training" }, copy = { d2h = { count = 58, bytes = 3e6 } } }),
      expect = { where = ", most of it between a result that it takes from the GPU and the next input", ways = reasons("metrics", "turns", "upload", "unseen", "unnamed", "other") } },
    { name = "a loss that is logged after each batch of a validation", edges = { ["copy.d2h.bytes"] = 160 },
      facts = waiting({ longest = 3e7, before_uploads = 4.8e8, between_turns = 4e8 }, { capture = { has_ranges = false }, run = { kind = "training" }, copy = { d2h = { count = 20, bytes = 80 } } }),
      expect = { ways = reasons("metrics", "turns", "upload", "unseen", "unnamed", "other") } },
    { name = "an environment that gets two actions per step, and a few more",
      facts = waiting({ lost = { time = 5e8, count = 44 }, longest = 7e6, before_uploads = 4.8e8, between_turns = 4e8 }, { capture = { has_ranges = false }, run = { kind = "training" }, copy = { d2h = { count = 44, bytes = 352 } } }),
      expect = { where = ", most of it between a result that it takes from the GPU and the next input, as an environment does" } },
    { name = "near miss: a loss per step, and a norm now and then",
      facts = waiting({ lost = { time = 5e8, count = 36 }, longest = 7e6, before_uploads = 4.8e8, between_turns = 4e8 }, { capture = { has_ranges = false }, run = { kind = "training" }, copy = { d2h = { count = 36, bytes = 288 } } }),
      expect = { where = ", most of it between a result that it takes from the GPU and the next input" } },
    { name = "metrics of all outputs, which come to the host for that",
      facts = waiting({ lost = { time = 5e8, count = 48 }, before_uploads = 4.8e8, between_turns = 4e8 }, { capture = { has_ranges = false }, run = { kind = "training" }, copy = { d2h = { count = 58, bytes = 1.25e10 } } }),
      expect = { ways = reasons("metrics", "upload", "unseen", "unnamed", "other") } },
    { name = "near miss: a server takes its result before it prepares the next input",
      facts = waiting({ before_uploads = 4.8e8, between_turns = 4e8 }, { capture = { has_ranges = false }, run = { kind = "inference" } }),
      expect = { ways = reasons("upload", "unseen", "unnamed", "other") } },
    { name = "the code needs the token that the model has just generated",
      facts = waiting({ before_uploads = 4.8e8, between_turns = 4e8 }, { capture = { has_ranges = false }, run = { decode = true, kind = "inference" } }),
      expect = { where = ", most of it between a result that it takes from the GPU and the next input", ways = reasons("unseen", "unnamed", "other") } },
    { name = "part of the model runs on the CPU", facts = waiting({ before_uploads = 4.8e8 }, { run = { framework = "llama.cpp", kind = "inference" } }),
      expect = { where = ", most of it between a result and the next input, as when part of the model runs on the CPU", ways = reasons("layers", "unseen", "unnamed", "other") } },
    { name = "the code delays the upload, and the GPU waits for the copy",
      facts = waiting({ lost = { time = 1e8, count = 0 }, before_uploads = 1e8, late_uploads = 6e7 }, { capture = { has_ranges = false } }),
      expect = { share = 0.1, all_text = " Most of the waiting shows as copies, since uploads start late." } },
    { name = "a part of the waiting shows as copies", edges = { ["host.compute.late_uploads"] = 1e8 }, facts = waiting({ late_uploads = 2e8 }, { capture = { has_ranges = false } }),
      expect = { all_text = " Part of the waiting shows as copies, since uploads start late." } },
    { name = "more than the idle time that code explains: it delays launches, too", facts = waiting({}, { window = { time = 1e9, device_time = 1e9 }, idle = { host_compute = 4e8 } }),
      expect = { what = "CPU code on the launching thread, and for launches that it delays,", share = 0.5 } },
    { name = "near miss: idle time and late uploads explain it", facts = waiting({ late_uploads = 1e8 }, { window = { time = 1e9, device_time = 1e9 }, idle = { host_compute = 4e8 } }),
      expect = { what = "CPU code on the launching thread" } },
    { name = "near miss: half of it comes before an upload", facts = waiting({ before_uploads = 2.5e8 }, { capture = { has_ranges = false } }), expect = { where = "" } },
    { name = "near miss: the longest range holds a sliver of the time",
      facts = waiting({ lost = { time = 5e8, count = 10 }, ranges = { { time = 700000, name = "FusionContainer::buildFusionIr" } } }, { steps = {} }),
      expect = { where = ", most of it in code that no named range covers", ways = reasons("unseen", "unnamed", "other") } },
    { name = "near miss: no range holds half of the time",
      facts = waiting({ lost = { time = 5e8, count = 10 }, ranges = { { time = 2e8, name = "metrics" }, { time = 2e8, name = "logging" } } }, { steps = {} }),
      expect = { where = ", spread over several ranges and functions" } },
    { name = "no function of the model holds half of the time, all of them do",
      facts = waiting({ lost = { time = 5e8, count = 10 }, ranges = { { time = 2e8, name = "bert.py(364): forward" }, { time = 1e8, name = "bert.py(465): forward" }, { time = 5e7, name = "enum.py(1128): __new__" } } }, { steps = {} }),
      expect = { where = ", most of it in the model's functions, such as bert.py(364): forward", ways = reasons("model") } },
    { name = "the CPU was sampled: the functions are known",
      facts = waiting({ lost = { time = 5e8, count = 10 }, functions = { { name = "main", samples = 400 }, { name = "std::abs", samples = 390 }, { name = "memcpy", samples = 90 } } }, { steps = {}, capture = { has_ranges = false } }),
      expect = { where = ", most of it in the functions main, std::abs", ways = reasons("other") } },
    { name = "one pass, and one pause in it: whether the next pass has it is not known",
      facts = waiting({ lost = { time = 5e8, count = 2 }, longest = 4.9e8 }, { window = { device_time = 1e9, supports_verdict = false }, steps = {}, run = { kind = "one-pass" }, launch = { count = 500 }, startup = { time = 0 } }),
      expect = { where = ", most of it in one pause of 490 ms", ways = reasons("once", "unseen", "unnamed", "other") }, saving = { claims = 5e8, confidence = 0.15 } },
    { name = "near miss: two pauses of one pass",
      facts = waiting({ lost = { time = 5e8, count = 2 }, longest = 2.5e8 }, { window = { device_time = 1e9, supports_verdict = false }, steps = {}, run = { kind = "one-pass" }, launch = { count = 500 }, startup = { time = 0 } }),
      expect = { where = ", most of it in code that no named range covers" }, saving = { confidence = 0.3 } },
    { name = "near miss: each step has its pause", facts = waiting({ lost = { time = 5e8, count = 1 }, longest = 5e8 }, { steps = { count = 1 } }),
      expect = { where = ", most of it in code that no named range covers" }, saving = { confidence = 0.3 } },
    { name = "near miss: samples are of many functions",
      facts = waiting({ lost = { time = 5e8, count = 10 }, functions = { { name = "a", samples = 10 }, { name = "b", samples = 10 }, { name = "c", samples = 10 }, { name = "d", samples = 10 }, { name = "e", samples = 10 }, { name = "f", samples = 10 } } }, { steps = {}, capture = { has_ranges = false } }),
      expect = { where = "", ways = reasons("other") } },
    { name = "a few percent between steps, when nothing else explains them", facts = waiting({ lost = { time = 3e7, count = 10 }, ranges = { { time = 3e7, name = "metrics" } } }),
      expect = { share = 0.03 } },
    { name = "near miss: a few percent of a run without steps, start included", facts = waiting({ lost = { time = 3e7, count = 10 } }, { steps = {} }), expect = "silent" },
    { name = "near miss: a little work between steps", facts = waiting({ lost = { time = 1e7, count = 10 }, ranges = { { time = 1e7, name = "metrics" } } }), expect = "silent" },
    { name = "the host is late for each launch, and never pauses for long", facts = waiting({ lost = 0 }, { steps = {}, idle = { host_compute = 3e8 } }), expect = "not_applicable" },
    { name = "the host is always ahead", facts = waiting({ lost = 0 }, { steps = {} }), expect = "not_applicable" },
    { name = "CUDA calls were not recorded", facts = { window = { device_time = 1e9 } }, expect = "cannot_tell" },
  },
}
