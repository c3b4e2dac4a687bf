-- Counters alone say that many SMs have no work for much of a kernel: too few blocks, or a last wave of a few. Where a timeline was
-- recorded, kernel/small-grid and kernel/tail-wave know how often each kernel runs and what runs beside it.
local function why_of(row, t)
  if row.blocks > 0 and row.sms > 0 and row.blocks < row.sms then
    return "grid", "The grid has " .. in_words(row.blocks, "count") .. (row.blocks == 1 and " block" or " blocks") .. " for " .. in_words(row.sms, "count") ..
      " SMs, and a block runs on one SM."
  end
  if row.waves > 1 and at_most(row.waves, t.max_waves) and 2 * (row.waves - math.floor(row.waves)) < 1 then
    return "tail", "The blocks fill the GPU " .. in_words(row.waves, "num") .. " times: the few that are left over run alone at the end, for as long as a full wave."
  end
  return "uneven", "Blocks take different lengths, and the longest run alone at the end."
end

return {
  id        = "kernel/idle-sms",
  title     = "Give every SM work until the kernel ends",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 58,
  explains  = { "kernel/low-throughput", "kernel/low-occupancy", "kernel/low-ipc" },
  knowledge = { "K-F2", "K-H2" },
  effort    = "code",

  needs      = { "counter.kernels", "counter.rows", "counter.latency.lost" },
  optional   = { "window.time" },
  thresholds = { "max_at_work", "max_waves", "min_mean", "min_weight", "winnable" },

  symptom = "Kernels that leave SMs idle take {weight:pct} of the kernel time: in {name:kernel}, an SM has work for {at_work:pct} of the time.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "grid", action = "Launch more blocks with less work each: at least two per SM, with a grid-stride loop",
      snippet = "const int blocks = min((n + 255) / 256, 32 * sms);   // sms: cudaDevAttrMultiProcessorCount\n" ..
                "kernel<<<blocks, 256, 0, stream>>>(data, n);         // for (i = tid; i < n; i += gridDim.x * blockDim.x)",
      language = "cpp", ["for"] = { "c++" } },
    { reason = "grid", action = "Split each piece of work among several blocks, and join their results at the end, or process several inputs in one launch" },
    { reason = "tail", action = "Launch exactly as many blocks as fit, and let each block loop over tiles (a persistent kernel)",
      snippet = "int blocks_per_sm, sms;\ncudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, kernel, threads, 0);\n" ..
                "cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);\n" ..
                "kernel<<<blocks_per_sm * sms, threads>>>(tiles);  // for (t = blockIdx.x; t < tiles; t += gridDim.x)",
      language = "cpp", ["for"] = { "c++" } },
    { reason = "tail", action = "Use smaller blocks: more of them fit at a time, and the last wave is shorter" },
    { reason = "uneven", action = "Cut the work into more and smaller blocks, and start the longest ones first" },
    { action = "Run independent small kernels concurrently on several streams" },
  },
  false_positives = "A kernel that runs at the same time as others, although the profiler measured it alone.",
  references = { "cuda-best-practices/occupancy", "ncu/profiling-guide" },

  applies = function(f)
    if #f.counter.rows == 0 then return false, "no kernel counters were given" end
    return f.window.time == nil, "the timeline shows the grids of all kernels"
  end,

  detect = function(f, t)
    local rows = filter(f.counter.rows, function(row)
      return row.bound == "latency" and (row.at_work or -1) >= 0 and at_most(row.at_work, t.max_at_work) and at_least(row.mean, t.min_mean)
    end)
    local weight = sum(rows, "weight")
    if #rows == 0 or not at_least(weight, t.min_weight) then return nil end
    local worst = top(rows, "weight", 5)
    local first = worst[1]
    local reason, why = why_of(first, t)
    return { reason = reason, why = why, weight = weight, count = #rows, name = first.kernel, at_work = first.at_work,
             part = share(sum(rows, "lost"), f.counter.latency.lost.time), rows = worst }
  end,

  -- The claims hold the headroom of all such kernels; this rule takes that of its own.
  saving = function(f, t, e)
    return { claims = f.counter.latency.lost, part = e.part * t.winnable, confidence = 0.5,
             basis = "all SMs have work, so that these kernels come near their next limit" }
  end,

  tests = {
    { name = "8 blocks on 108 SMs", edges = { ["counter.rows[1].at_work"] = 0.6, ["counter.rows[1].mean"] = 10000, ["counter.rows[1].weight"] = 0.1 },
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "lu_panel", weight = 1, lost = 4e8, bound = "latency", at_work = 0.074, mean = 3.3e6, blocks = 8, sms = 108, waves = 0.04 } } } },
      expect = { reason = "grid", at_work = 0.074, why = "The grid has 8 blocks for 108 SMs, and a block runs on one SM." }, saving = { claims = 4e8, part = 0.8 } },
    { name = "109 blocks, one per SM",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "heavy", weight = 1, lost = 2e8, bound = "latency", at_work = 0.52, mean = 9e5, blocks = 109, sms = 108, waves = 1.009 } } } },
      expect = { reason = "tail", part = 0.5 } },
    { name = "many waves, and blocks of different lengths",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "sparse", weight = 1, lost = 2e8, bound = "latency", at_work = 0.4, mean = 9e5, blocks = 9000, sms = 108, waves = 12 } } } },
      expect = { reason = "uneven" } },
    { name = "a little more than three waves",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "k", weight = 1, lost = 2e8, bound = "latency", at_work = 0.52, mean = 9e5, blocks = 400, sms = 108, waves = 3.1 } } } },
      expect = { reason = "tail" } },
    { name = "a little more than four waves",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "k", weight = 1, lost = 2e8, bound = "latency", at_work = 0.52, mean = 9e5, blocks = 400, sms = 108, waves = 4.1 } } } },
      expect = { reason = "uneven" } },
    { name = "near miss: all SMs at work",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "k", weight = 1, lost = 2e8, bound = "latency", at_work = 0.97, mean = 9e5, blocks = 9000, sms = 108, waves = 12 } } } }, expect = "silent" },
    { name = "near miss: a kernel of five microseconds",
      facts = { counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "k", weight = 1, lost = 2e8, bound = "latency", at_work = 0.1, mean = 5e3, blocks = 8, sms = 108, waves = 0.1 } } } }, expect = "silent" },
    { name = "a timeline was given, too", facts = { window = { time = 1e9 }, counter = { kernels = 1, latency = { lost = 4e8 }, rows = { { kernel = "k" } } } }, expect = "not_applicable" },
    { name = "no kernel counters were given", facts = { counter = { kernels = 0 } }, expect = "cannot_tell" },
  },
}
