-- The share of all GPU time that computes is a product of three factors: how evenly compute is spread over GPUs
-- (balance), how much of the busiest GPU's work is compute (communication), and how much of the time a GPU has work at
-- all (orchestration).
return {
  id        = "step/gpu-efficiency",
  title     = "Improve the lowest factor of parallel efficiency",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  effort    = "design",
  knowledge = { "K-G1", "K-I5", "K-L3" },

  needs      = { "efficiency.parallel", "efficiency.balance", "efficiency.communication", "efficiency.orchestration",
                 "run.devices" },
  thresholds = { "max_parallel", "min_devices" },

  symptom = "GPUs compute for {parallel:pct} of the time: load balance {balance:pct} × communication {communication:pct} × host keeping up {orchestration:pct}. The lowest factor is {lowest:text}.",
  cause   = "{reason:text}",
  fixes   = {
    { action = "Load balance: give each GPU the same work (rank/…, pipeline/…)" },
    { action = "Communication: overlap or shorten collectives and copies (comm/…, transfer/…)" },
    { action = "Host: keep the GPUs supplied with work (input/…, launch/…, sync/…)" },
  },
  false_positives = "Runs that wait for something outside the program.",
  references = { "nsys/user-guide" },

  applies = function(f)
    return f.run.devices >= 1, "no GPU did work"
  end,

  detect = function(f, t)
    if not at_least(f.run.devices, t.min_devices) then return nil end
    if not at_most(f.efficiency.parallel, t.max_parallel) then return nil end
    local e = f.efficiency
    local lowest, reason = "load balance", "Some GPUs compute less than others."
    if e.communication < e.balance and e.communication <= e.orchestration then
      lowest, reason = "communication", "The busiest GPU spends much of its working time in communication and copies."
    elseif e.orchestration < e.balance then
      lowest, reason = "the host keeping up", "Even the busiest GPU has nothing to do for much of the time."
    end
    return { parallel = e.parallel, balance = e.balance, communication = e.communication, orchestration = e.orchestration,
             lowest = lowest, reason = reason }
  end,

  tests = {
    { name = "GPUs without work",
      edges = { ["efficiency.parallel"] = 0.8, ["run.devices"] = 2 },
      facts = { efficiency = { parallel = 0.43, balance = 0.95, communication = 0.9, orchestration = 0.5 }, run = { devices = 4 } },
      expect = { lowest = "the host keeping up" } },
    { name = "one GPU computes more",
      facts = { efficiency = { parallel = 0.5, balance = 0.55, communication = 0.95, orchestration = 0.96 }, run = { devices = 4 } },
      expect = { lowest = "load balance" } },
    { name = "near miss: efficient",
      facts = { efficiency = { parallel = 0.9, balance = 0.98, communication = 0.95, orchestration = 0.97 }, run = { devices = 4 } },
      expect = "silent" },
    { name = "near miss: one GPU",
      facts = { efficiency = { parallel = 0.4, balance = 1, communication = 0.9, orchestration = 0.5 }, run = { devices = 1 } },
      expect = "silent" },
    { name = "no devices",
      facts = { efficiency = { parallel = 0, balance = 0, communication = 0, orchestration = 0 }, run = { devices = 0 } },
      expect = "not_applicable" },
    { name = "nothing was recorded",
      facts = {},
      expect = "cannot_tell" },
  },
}
