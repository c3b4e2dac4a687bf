-- The clock of a busy GPU falls while its temperature rises: cooling does not keep up with the load.
return {
  id        = "monitor/falling-clock",
  title     = "Improve the cooling: the clock falls while the GPU gets hot",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 60,
  knowledge = { "K-O6", "K-O7" },
  effort    = "flag",
  observed  = "measured",
  risk      = "hardware",

  needs      = { "monitor.gpus", "monitor.samples" },
  optional   = { "monitor.falls.gpu", "monitor.falls.clock", "monitor.falls.before", "monitor.falls.after" },
  thresholds = { "min_samples" },

  symptom = "While the log was written, {gpu:text} got hotter, from {before:num} to {after:num} °C, and its clock fell to {clock:pct} of what it was at the start.",
  cause   = "The board lowers its clock to stay below its temperature limit. Every kernel then takes longer.",
  fixes   = {
    { action = "Tell the administrators which GPU is hot: airflow, fans, dust, the load of neighboring GPUs",
      snippet = "nvidia-smi -q -d TEMPERATURE,PERFORMANCE", language = "bash", ["for"] = { "nvidia" } },
    { action = "Tell the administrators which GPU is hot: airflow, fans, dust, the load of neighboring GPUs",
      snippet = "amd-smi monitor --temperature --power-usage --violation", language = "bash", ["for"] = { "amd" } },
    { action = "Measure the speed of the program after it has run for some minutes, not at its start" },
  },
  false_positives = "A board that starts cool and settles: the later clock is then the one to expect.",
  references = { "nvidia/smi" },

  applies = function(f) return f.monitor.gpus > 0, "no monitor log was given" end,

  detect = function(f, t)
    local falls = f.monitor.falls
    if not falls.gpu or not at_least(f.monitor.samples, t.min_samples) then return nil end
    return { gpu = falls.gpu, before = falls.before, after = falls.after, clock = falls.clock }
  end,

  tests = {
    { name = "from 60 to 89 degrees", edges = { ["monitor.samples"] = 20 },
      facts = { monitor = { gpus = 1, samples = 120, falls = { gpu = "GPU 0", clock = 0.76, before = 60, after = 89 } } }, expect = { gpu = "GPU 0", clock = 0.76 } },
    { name = "near miss: the clock holds", facts = { monitor = { gpus = 1, samples = 120, falls = {} } }, expect = "silent" },
    { name = "no monitor", facts = { monitor = { gpus = 0, samples = 0, falls = {} } }, expect = "not_applicable" },
  },
}
