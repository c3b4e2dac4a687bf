-- Heat, power or the brake of the power supply holds the clocks back. Running into the power limit at nearly full clocks is how large
-- GPUs work, so power counts only when the clock suffers; heat always does. A board that runs at its own limit is as fast as it can be:
-- only a limit that was lowered, or one of which nothing is known, is worth a look. Where the log does not hold the reasons, power at a
-- lowered limit together with low clocks says the same.
-- Some of the GPUs alone: what holds them back slows the whole job. Their names, and means over them; nil where it is all of
-- them or none, or their clocks are not known.
local function affected(rows, reason, least)
  local names, clock, part, limit, own = {}, 0, 0, 0, 0
  local known = filter(rows or {}, function(row) return row.clock ~= nil and row.clock > 0 end)
  for _, row in ipairs(known) do
    if at_least(row[reason] or 0, least) then
      table.insert(names, row.gpu)
      clock, part = clock + row.clock, part + row[reason]
      limit, own = limit + (row.limit or -1), own + (row.own_limit or -1)
    end
  end
  if #names == 0 or #names == #known then return nil end
  return { of_text = (#names == 1 and " of GPU " or " of GPUs ") .. table.concat(names, ", "), clock = clock / #names, [reason] = part / #names,
           limit = limit > 0 and limit / #names or nil, own_limit = own > 0 and own / #names or nil }
end

-- Whether somebody lowered the power limit: "unknown" where one of the two is.
local function lowered(limit, own, least)
  if not limit or not own then return "unknown" end
  return share(limit, own) < least and "yes" or "no"
end

local function limit_text(limit, own)
  return ": the power limit is " .. in_words(limit, "num") .. " W, and the board's own is " .. in_words(own, "num") .. " W."
end

return {
  id        = "monitor/throttled",
  title     = "Remove what keeps the clocks low: heat or power",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  explains  = { "monitor/busy-but-idle-inside", "monitor/slow-gpu", "monitor/falling-clock", "monitor/low-clocks" },
  knowledge = { "K-O6", "K-O7" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "hardware",

  needs      = { "monitor.gpus" },
  optional   = { "monitor.rows", "monitor.samples", "monitor.throttled.power", "monitor.throttled.thermal", "monitor.throttled.hardware",
                 "monitor.throttled.brake", "monitor.clock", "monitor.limit", "monitor.own_limit", "monitor.busy_power" },
  thresholds = { "min_thermal", "min_power", "min_brake", "min_limit", "min_draw", "max_clock", "min_samples" },

  symptom = "{seen:text} The SM clock was at {clock:pct} of its known maximum.",
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
    { reason = "lowered", action = "Have the administrators set the power limit back to the board's own, unless they lowered it on purpose",
      snippet = "nvidia-smi -q -d POWER\nsudo nvidia-smi -i GPU --power-limit WATTS   # the default limit that the first command prints", language = "bash", ["for"] = { "nvidia" } },
    { reason = "lowered", action = "Have the administrators set the power limit back to the board's own, unless they lowered it on purpose",
      snippet = "amd-smi static --limit\nsudo amd-smi reset --power-cap", language = "bash", ["for"] = { "amd" } },
    { reason = "brake", action = "Tell the administrators: the brake signal comes from the power supply or the rack. A power supply has failed, or the budget of the chassis is too small",
      snippet = "nvidia-smi -q -d PERFORMANCE,POWER\nsudo ipmitool sdr type 'Power Supply'\nsudo ipmitool sel list", language = "bash", ["for"] = { "nvidia" } },
    { reason = "power", action = "If the limit cannot be raised, spread the work over more GPUs or accept this clock as the peak" },
  },
  false_positives = "A power limit that was set on purpose to save energy.",
  references = { "nvidia/smi", "nvidia/dcgm" },

  applies = function(f)
    local throttled = f.monitor.throttled
    local known = throttled.power ~= nil or throttled.thermal ~= nil or throttled.hardware ~= nil or throttled.brake ~= nil
                  or (f.monitor.limit ~= nil and f.monitor.own_limit ~= nil and f.monitor.clock ~= nil)
    return f.monitor.gpus > 0 and known, "no monitor log says what keeps the clocks low"
  end,

  detect = function(f, t)
    local throttled, rows = f.monitor.throttled, f.monitor.rows
    local brake = throttled.brake or 0
    -- The board reports the brake as its own, too.
    local heat = math.max(throttled.thermal or 0, (throttled.hardware or 0) - brake)
    local clock = f.monitor.clock
    local function held(part, of_text, what, limit)
      return "For " .. in_words(part, "pct") .. " of the busy time" .. of_text .. ", " .. what .. " kept the clocks low" .. (limit or ".")
    end
    local hot = affected(rows, "by_heat", t.min_thermal)
    if hot then return { part = hot.by_heat, reason = "heat", seen = held(hot.by_heat, hot.of_text, "heat or the board itself"), clock = hot.clock } end
    if at_least(heat, t.min_thermal) then
      return { part = heat, reason = "heat", seen = held(heat, "", "heat or the board itself"), clock = clock or 1 }
    end
    if at_least(brake, t.min_brake) then
      return { part = brake, reason = "brake", seen = held(brake, "", "the brake signal of the power supply"), clock = clock or 1 }
    end
    if f.monitor.samples and not at_least(f.monitor.samples, t.min_samples) then return nil end
    local function by_power(part, one, of_text)
      local why = lowered(one.limit, one.own_limit, t.min_limit)
      if why == "no" then return nil end
      return { part = part, reason = why == "yes" and "lowered" or "power", clock = one.clock,
               seen = held(part, of_text, "power", why == "yes" and limit_text(one.limit, one.own_limit) or nil) }
    end
    local limited = affected(rows, "by_power", t.min_power)
    if limited and at_most(limited.clock, t.max_clock) then return by_power(limited.by_power, limited, limited.of_text) end
    if not clock or not at_most(clock, t.max_clock) then return nil end
    local power = throttled.power or 0
    if at_least(power, t.min_power) then return by_power(power, f.monitor, "") end
    local draw = f.monitor.busy_power
    if not throttled.power and draw and at_least(draw, t.min_draw) and lowered(f.monitor.limit, f.monitor.own_limit, t.min_limit) == "yes" then
      return { part = draw, reason = "lowered", clock = clock,
               seen = "While in use, the GPUs drew " .. in_words(draw, "pct") .. " of their power limit" .. limit_text(f.monitor.limit, f.monitor.own_limit) }
    end
    return nil
  end,

  tests = {
    { name = "heat for a third of the busy time",
      edges = { ["monitor.throttled.thermal"] = 0.05 },
      facts = { monitor = { gpus = 4, throttled = { thermal = 0.33, power = 0 }, clock = 0.8 } },
      expect = { part = 0.33, reason = "heat", clock = 0.8 } },
    { name = "one hot GPU of four, which slows all",
      facts = { monitor = { gpus = 4, throttled = { thermal = 0.25, power = 0 }, clock = 0.87,
                            rows = { { gpu = "0", by_heat = 0, clock = 1, limit = -1, own_limit = -1 }, { gpu = "1", by_heat = 0, clock = 1, limit = -1, own_limit = -1 }, { gpu = "2", by_heat = 1, clock = 0.48, limit = -1, own_limit = -1 } } } },
      expect = { part = 1, clock = 0.48, seen = "For 100 % of the busy time of GPU 2, heat or the board itself kept the clocks low." } },
    { name = "one GPU of two at a lower power limit",
      facts = { monitor = { gpus = 2, throttled = { power = 0.4 }, clock = 0.8, rows = { { gpu = "0", by_heat = 0, by_power = 0, clock = 1, limit = -1, own_limit = -1 }, { gpu = "1", by_heat = 0, by_power = 0.8, clock = 0.6, limit = -1, own_limit = -1 } } } },
      expect = { part = 0.8, reason = "power", seen = "For 80 % of the busy time of GPU 1, power kept the clocks low." } },
    { name = "power, and the clock at two thirds",
      edges = { ["monitor.throttled.power"] = 0.3, ["monitor.samples"] = 5 },
      facts = { monitor = { gpus = 4, samples = 100, throttled = { power = 0.9 }, clock = 0.66 } }, expect = { part = 0.9, reason = "power", clock = 0.66 } },
    { name = "near miss: at the power limit with nearly the full clock",
      facts = { monitor = { gpus = 4, throttled = { power = 0.95, thermal = 0 }, clock = 0.94 } }, expect = "silent" },
    { name = "the limit was lowered, and the log says both", edges = { ["monitor.limit"] = 595 },
      facts = { monitor = { gpus = 1, samples = 100, throttled = { power = 1, thermal = 0 }, clock = 0.62, limit = 400, own_limit = 700 } },
      expect = { reason = "lowered", seen = "For 100 % of the busy time, power kept the clocks low: the power limit is 400 W, and the board's own is 700 W." } },
    { name = "the log does not hold the reasons, but the power is at a lowered limit", edges = { ["monitor.busy_power"] = 0.95, ["monitor.clock"] = 0.85 },
      facts = { monitor = { gpus = 1, samples = 100, clock = 0.65, busy_power = 0.99, limit = 250, own_limit = 400 } }, expect = { reason = "lowered", clock = 0.65 } },
    { name = "the brake of the power supply", edges = { ["monitor.throttled.brake"] = 0.05 },
      facts = { monitor = { gpus = 1, samples = 100, throttled = { power = 0, thermal = 0, brake = 1 }, clock = 0.33, limit = 700, own_limit = 700 } },
      expect = { reason = "brake", part = 1 } },
    { name = "the brake is what the board reports as its own",
      facts = { monitor = { gpus = 1, samples = 100, throttled = { power = 0, thermal = 0, brake = 1, hardware = 1 }, clock = 0.33 } }, expect = { reason = "brake" } },
    { name = "near miss: a small board at the limit that it has by itself",
      facts = { monitor = { gpus = 1, samples = 100, throttled = { power = 1, thermal = 0 }, clock = 0.66, limit = 72, own_limit = 72 } }, expect = "silent" },
    { name = "near miss: a single hot sample",
      facts = { monitor = { gpus = 4, throttled = { thermal = 0.01, power = 0 }, clock = 0.98 } }, expect = "silent" },
    { name = "the log does not hold the reasons", facts = { monitor = { gpus = 4, clock = 0.5 } }, expect = "not_applicable" },
  },
}
