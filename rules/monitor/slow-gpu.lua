-- One of several busy GPUs runs at a far lower clock than the others. A job whose ranks wait for each other runs at the pace of this one.
return {
  id        = "monitor/slow-gpu",
  title     = "Have the slow GPU checked: its clock is far below the others'",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 60,
  knowledge = { "K-O6", "K-O7" },
  effort    = "flag",
  observed  = "measured",
  risk      = "hardware",

  needs      = { "monitor.gpus", "monitor.samples" },
  optional   = { "monitor.slow.gpu", "monitor.slow.clock", "monitor.slow.others", "monitor.slow.heat", "monitor.slow.others_heat" },
  thresholds = { "min_samples", "hotter" },

  symptom = "While busy, {gpu:text} runs at {clock:text} MHz, and the other GPUs at {others:text} MHz{heat_text:text}.",
  cause   = "{why:text} Ranks that wait for each other all run at the pace of the slowest GPU.",
  fixes   = {
    { action = "While the job runs, read what holds this GPU's clock down", snippet = "nvidia-smi -q -d TEMPERATURE,PERFORMANCE,POWER,CLOCK", language = "bash", ["for"] = { "nvidia" } },
    { action = "While the job runs, read what holds this GPU's clock down", snippet = "amd-smi monitor --temperature --power-usage --violation", language = "bash", ["for"] = { "amd" } },
    { reason = "heat", action = "Tell the administrators which GPU is hot: airflow, fans, dust, the heat sink" },
    { action = "Until then, keep the job off this GPU or node" },
  },
  false_positives = "GPUs that run different jobs, of which one draws more power.",
  references = { "nvidia/smi", "nvidia/dcgm" },

  applies = function(f) return f.monitor.gpus > 1, "no monitor log of several GPUs was given" end,

  detect = function(f, t)
    local slow = f.monitor.slow
    if not slow.gpu or not at_least(f.monitor.samples, t.min_samples) then return nil end
    local known = slow.heat and slow.others_heat
    local hot = known and at_least(slow.heat - slow.others_heat, t.hotter)
    local function mhz(hz) return in_words(math.floor(hz / 1e6 + 0.5), "count") end
    return { gpu = slow.gpu, clock = mhz(slow.clock), others = mhz(slow.others), reason = hot and "heat" or "other",
             heat_text = known and " (" .. in_words(slow.heat, "num") .. " and " .. in_words(slow.others_heat, "num") .. " °C)" or "",
             why = hot and "It is hotter than the others, so the board lowers its clock." or "Heat, a lowered power limit, the power supply or a locked clock holds the clock down." }
  end,

  tests = {
    { name = "one of eight is hot and slow", edges = { ["monitor.samples"] = 20 },
      facts = { monitor = { gpus = 8, samples = 120, slow = { gpu = "GPU 3", clock = 1.15e9, others = 1.98e9, heat = 89, others_heat = 62 } } },
      expect = { gpu = "GPU 3", clock = "1,150", others = "1,980", reason = "heat", heat_text = " (89 and 62 °C)" } },
    { name = "slow, and no hotter",
      facts = { monitor = { gpus = 8, samples = 120, slow = { gpu = "GPU 3", clock = 1.15e9, others = 1.98e9, heat = 62, others_heat = 60 } } }, expect = { reason = "other" } },
    { name = "slow, and hotter by eleven degrees",
      facts = { monitor = { gpus = 8, samples = 120, slow = { gpu = "GPU 3", clock = 1.15e9, others = 1.98e9, heat = 71, others_heat = 60 } } }, expect = { reason = "heat" } },
    { name = "slow, and hotter by nine degrees",
      facts = { monitor = { gpus = 8, samples = 120, slow = { gpu = "GPU 3", clock = 1.15e9, others = 1.98e9, heat = 69, others_heat = 60 } } }, expect = { reason = "other" } },
    { name = "near miss: all alike", facts = { monitor = { gpus = 8, samples = 120, slow = {} } }, expect = "silent" },
    { name = "one GPU", facts = { monitor = { gpus = 1, samples = 120, slow = {} } }, expect = "not_applicable" },
  },
}
