-- The driver says that heat or power holds the clocks back. Running into the power limit at nearly full clocks is how large GPUs
-- work, so power counts only when the clock suffers; heat always does.
-- Some of the GPUs alone: what holds them back slows the whole job. Their names, and means over them; nil where it is all of
-- them or none, or their clocks are not known.
local function affected(rows, reason, least)
  local names, clock, part = {}, 0, 0
  local known = filter(rows or {}, function(row) return row.clock ~= nil and row.clock > 0 end)
  for _, row in ipairs(known) do
    if at_least(row[reason] or 0, least) then
      table.insert(names, row.gpu)
      clock, part = clock + row.clock, part + row[reason]
    end
  end
  if #names == 0 or #names == #known then return nil end
  return { of_text = (#names == 1 and " of GPU " or " of GPUs ") .. table.concat(names, ", "), clock = clock / #names, [reason] = part / #names }
end

return {
  id        = "monitor/throttled",
  title     = "Find out what keeps the clocks low: heat or power",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  explains  = { "monitor/busy-but-idle-inside" },
  knowledge = { "K-O6", "K-O7" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "hardware",

  needs      = { "monitor.gpus" },
  optional   = { "monitor.rows", "monitor.samples", "monitor.throttled.power", "monitor.throttled.thermal", "monitor.throttled.hardware", "monitor.clock" },
  thresholds = { "min_thermal", "min_power", "max_clock", "min_samples" },

  symptom = "In {part:pct} of the busy samples{of_text:text}, {what:text} kept the clocks low. The SM clock was at {clock:pct} of its known maximum.",
  cause   = "The board lowers its clocks to stay within its power and temperature limits. Every kernel then takes longer.",
  fixes   = {
    { reason = "heat", action = "Tell the administrators which GPU is hot: airflow, fans, dust, the load of neighboring GPUs",
      snippet = "nvidia-smi -q -d TEMPERATURE,PERFORMANCE", language = "bash", ["for"] = { "nvidia" } },
    { reason = "heat", action = "Tell the administrators which GPU is hot: airflow, fans, dust, the load of neighboring GPUs",
      snippet = "amd-smi monitor --temperature --power-usage --violation", language = "bash", ["for"] = { "amd" } },
    { reason = "power", action = "Compare the power limit with the board's default; your site may have lowered it",
      snippet = "nvidia-smi -q -d POWER,PERFORMANCE,TEMPERATURE", language = "bash", ["for"] = { "nvidia" } },
    { reason = "power", action = "Compare the power limit with the board's default; your site may have lowered it",
      snippet = "amd-smi static --limit\namd-smi monitor --power-usage --violation", language = "bash", ["for"] = { "amd" } },
    { reason = "power", action = "If the limit cannot be raised, spread the work over more GPUs or accept this clock as the peak" },
  },
  false_positives = "A power limit that was set on purpose to save energy.",
  references = { "nvidia/smi", "nvidia/dcgm" },

  applies = function(f)
    local throttled = f.monitor.throttled
    local known = throttled.power ~= nil or throttled.thermal ~= nil or throttled.hardware ~= nil
    return f.monitor.gpus > 0 and known, "no monitor log says what keeps the clocks low"
  end,

  detect = function(f, t)
    local throttled = f.monitor.throttled
    local heat = math.max(throttled.thermal or 0, throttled.hardware or 0)
    local clock = f.monitor.clock
    local hot = affected(f.monitor.rows, "by_heat", t.min_thermal)
    if hot then return { part = hot.by_heat, reason = "heat", what = "heat or the board itself", clock = hot.clock, of_text = hot.of_text } end
    if at_least(heat, t.min_thermal) then
      return { part = heat, reason = "heat", what = "heat or the board itself", clock = clock or 1, of_text = "" }
    end
    if f.monitor.samples and not at_least(f.monitor.samples, t.min_samples) then return nil end
    local limited = affected(f.monitor.rows, "by_power", t.min_power)
    if limited and at_most(limited.clock, t.max_clock) then
      return { part = limited.by_power, reason = "power", what = "power", clock = limited.clock, of_text = limited.of_text }
    end
    local power = throttled.power or 0
    if at_least(power, t.min_power) and clock and at_most(clock, t.max_clock) then
      return { part = power, reason = "power", what = "power", clock = clock, of_text = "" }
    end
    return nil
  end,

  tests = {
    { name = "heat in a third of the busy samples",
      edges = { ["monitor.throttled.thermal"] = 0.05 },
      facts = { monitor = { gpus = 4, throttled = { thermal = 0.33, power = 0 }, clock = 0.8 } },
      expect = { part = 0.33, what = "heat or the board itself", clock = 0.8 } },
    { name = "one hot GPU of four, which slows all",
      facts = { monitor = { gpus = 4, throttled = { thermal = 0.25, power = 0 }, clock = 0.87,
                            rows = { { gpu = "0", by_heat = 0, clock = 1 }, { gpu = "1", by_heat = 0, clock = 1 }, { gpu = "2", by_heat = 1, clock = 0.48 } } } },
      expect = { part = 1, clock = 0.48, of_text = " of GPU 2" } },
    { name = "one GPU of two at a lower power limit",
      facts = { monitor = { gpus = 2, throttled = { power = 0.4 }, clock = 0.8, rows = { { gpu = "0", by_heat = 0, by_power = 0, clock = 1 }, { gpu = "1", by_heat = 0, by_power = 0.8, clock = 0.6 } } } },
      expect = { part = 0.8, what = "power", of_text = " of GPU 1" } },
    { name = "power, and the clock at two thirds",
      edges = { ["monitor.throttled.power"] = 0.3, ["monitor.samples"] = 5 },
      facts = { monitor = { gpus = 4, samples = 100, throttled = { power = 0.9 }, clock = 0.66 } }, expect = { part = 0.9, what = "power", clock = 0.66 } },
    { name = "near miss: at the power limit with nearly the full clock",
      facts = { monitor = { gpus = 4, throttled = { power = 0.95, thermal = 0 }, clock = 0.94 } }, expect = "silent" },
    { name = "near miss: a single hot sample",
      facts = { monitor = { gpus = 4, throttled = { thermal = 0.01, power = 0 }, clock = 0.98 } }, expect = "silent" },
    { name = "the log does not hold the reasons", facts = { monitor = { gpus = 4, clock = 0.5 } }, expect = "not_applicable" },
  },
}
