-- Kernels run all the time, and few SMs have work: DCGM counts both. The widest gap that a monitor can show, since the rest of the GPU
-- is free for more of the same work. Each GPU is judged by itself: a mean over all would hide the one that is empty.
local function busy_of(row) return row.gr_active >= 0 and row.gr_active or row.utilization end

-- "" where it is all of them.
local function place(names, all)
  if #names == all then return "" end
  if #names == 1 then return " on GPU " .. names[1] end
  return " on " .. #names .. " of " .. all .. " GPUs, such as GPU " .. names[1]
end

return {
  id        = "monitor/idle-sms",
  title     = "Give all SMs work: kernels run, but most SMs are idle",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 50,
  explains  = { "monitor/busy-but-idle-inside" },
  knowledge = { "K-O6", "K-F2", "K-G3", "K-G4" },
  effort    = "code",
  observed  = "measured",

  needs      = { "monitor.gpus", "monitor.samples", "monitor.rows" },
  optional   = { "monitor.sm_active" },
  thresholds = { "min_samples", "min_utilization", "max_sm_active" },

  symptom = "According to DCGM, kernels run for {busy:pct} of the time{place:text}, and on average {active:pct} of the SMs have work.",
  cause   = "Kernels with few blocks leave the other SMs idle, however long they run. So do kernels that only wait for other GPUs.",
  fixes   = {
    { action = "Give each launch more work: a larger batch, more rows or longer sequences per call, more blocks per kernel" },
    { action = "If one task cannot fill the GPU, run several at once: several processes under MPS, or several streams",
      snippet = "nvidia-cuda-mps-control -d", language = "bash", ["for"] = { "nvidia" } },
    { action = "Capture a timeline with GPU metrics: it shows which kernels leave SMs idle",
      snippet = "nsys profile --trace=cuda,nvtx --gpu-metrics-devices=all --duration=30 -o run -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "A job that waits for other GPUs: kernels of a collective run on few SMs until the last rank comes.",
  references = { "nvidia/dcgm", "cuda/mps" },

  applies = function(f)
    if f.monitor.gpus == 0 then return false, "no monitor log was given" end
    return f.monitor.sm_active ~= nil, "the log does not count SMs with work"
  end,

  detect = function(f, t)
    if not at_least(f.monitor.samples, t.min_samples) then return nil end
    local names, busy, active, all = {}, 0, 0, 0
    for _, row in ipairs(f.monitor.rows) do
      if row.at_work > 0 then all = all + 1 end
      if row.at_work > 0 and row.sm_active >= 0 and at_least(busy_of(row), t.min_utilization) and at_most(row.sm_active, t.max_sm_active) then
        table.insert(names, row.gpu)
        busy, active = busy + busy_of(row), active + row.sm_active
      end
    end
    if #names == 0 then return nil end
    return { busy = share(busy, #names), active = share(active, #names), place = place(names, all) }
  end,

  tests = {
    { name = "a twentieth of the SMs has work",
      edges = { ["monitor.samples"] = 20, ["monitor.rows[1].sm_active"] = 0.5, ["monitor.rows[1].gr_active"] = 0.9 },
      facts = { monitor = { gpus = 1, samples = 60, sm_active = 0.048, rows = { { gpu = "0", at_work = 1, gr_active = 0.99, utilization = 0.99, sm_active = 0.048 } } } },
      expect = { busy = 0.99, active = 0.048, place = "" } },
    { name = "the exporter counts utilization only",
      facts = { monitor = { gpus = 1, samples = 60, sm_active = 0.25, rows = { { gpu = "0", at_work = 1, gr_active = -1, utilization = 0.98, sm_active = 0.25 } } } },
      expect = { busy = 0.98, active = 0.25 } },
    { name = "one GPU of two: the mean of both tells nothing",
      facts = { monitor = { gpus = 2, samples = 60, sm_active = 0.51, rows = { { gpu = "0", at_work = 1, gr_active = 0.99, utilization = 1, sm_active = 0.04 },
                                                                            { gpu = "1", at_work = 1, gr_active = 0.99, utilization = 1, sm_active = 0.98 } } } },
      expect = { active = 0.04, place = " on GPU 0" } },
    { name = "two GPUs of three",
      facts = { monitor = { gpus = 3, samples = 60, sm_active = 0.4, rows = { { gpu = "0", at_work = 1, gr_active = 0.99, utilization = 1, sm_active = 0.2 },
                                                                           { gpu = "1", at_work = 1, gr_active = 0.97, utilization = 1, sm_active = 0.1 },
                                                                           { gpu = "2", at_work = 1, gr_active = 0.99, utilization = 1, sm_active = 0.9 } } } },
      expect = { busy = 0.98, active = 0.15, place = " on 2 of 3 GPUs, such as GPU 0" } },
    { name = "near miss: most SMs have work",
      facts = { monitor = { gpus = 1, samples = 60, sm_active = 0.9, rows = { { gpu = "0", at_work = 1, gr_active = 0.99, utilization = 1, sm_active = 0.9 } } } }, expect = "silent" },
    { name = "near miss: idle between kernels, too",
      facts = { monitor = { gpus = 1, samples = 60, sm_active = 0.2, rows = { { gpu = "0", at_work = 1, gr_active = 0.4, utilization = 1, sm_active = 0.2 } } } }, expect = "silent" },
    { name = "near miss: a GPU that nobody uses",
      facts = { monitor = { gpus = 1, samples = 60, sm_active = 0, rows = { { gpu = "0", at_work = 0, gr_active = 0.95, utilization = 1, sm_active = 0 } } } }, expect = "silent" },
    { name = "near miss: a handful of samples",
      facts = { monitor = { gpus = 1, samples = 5, sm_active = 0.1, rows = { { gpu = "0", at_work = 1, gr_active = 0.99, utilization = 1, sm_active = 0.1 } } } }, expect = "silent" },
    { name = "nvidia-smi does not count SMs",
      facts = { monitor = { gpus = 1, samples = 60, rows = { { gpu = "0", at_work = 1, gr_active = -1, utilization = 0.99, sm_active = -1 } } } }, expect = "not_applicable" },
    { name = "no monitor", facts = { monitor = { gpus = 0, samples = 0, rows = {} } }, expect = "not_applicable" },
  },
}
