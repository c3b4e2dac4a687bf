-- A GPU's memory has had errors that could not be corrected, or a repair of it waits or has failed. Jobs on it end with an error, or,
-- in the worst case, compute with wrong numbers.
return {
  id        = "monitor/memory-errors",
  title     = "Have the GPU with memory errors reset or replaced",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  knowledge = { "K-O7" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "hardware",
  priority  = 90,

  needs      = { "monitor.gpus" },
  optional   = { "monitor.errors.gpus", "monitor.errors.uncorrected", "monitor.errors.pending", "monitor.errors.failed", "monitor.errors.remapped" },
  thresholds = { "min_errors" },

  symptom = "{who:text}: {what:text}.{rows:text}",
  cause   = "Memory cells are faulty. Until the board is reset, a faulty row stays in use; a board without spare rows must be replaced.",
  fixes   = {
    { action = "Read the errors and repairs of the board, and tell the administrators",
      snippet = "nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT\ndmesg -T | grep -i xid", language = "bash", ["for"] = { "nvidia" } },
    { action = "Read the errors and the retired pages of the board, and tell the administrators", snippet = "amd-smi metric --ecc\namd-smi bad-pages",
      language = "bash", ["for"] = { "amd" } },
    { action = "Once no job uses it, reset the GPU: that makes the pending repairs", snippet = "sudo nvidia-smi --gpu-reset -i 0", language = "bash", ["for"] = { "nvidia" } },
    { action = "Once no job uses it, reset the GPU: that makes the pending repairs", snippet = "sudo amd-smi reset --gpureset --gpu 0", language = "bash", ["for"] = { "amd" } },
    { action = "Rerun on another GPU what ran on this one while there were errors, and compare the results" },
  },
  false_positives = "Errors of an earlier job, since the driver was loaded.",
  references = { "nvidia/smi", "nvidia/dcgm" },

  applies = function(f)
    if f.monitor.gpus == 0 then return false, "no monitor log was given" end
    return f.monitor.errors.uncorrected ~= nil, "no monitor log tells of memory errors"
  end,

  detect = function(f, t)
    local errors = f.monitor.errors
    if not errors.gpus then return nil end
    local what = nil
    if errors.failed then
      what = "the memory can no longer be repaired"
    elseif at_least(errors.uncorrected, t.min_errors) then
      what = in_words(errors.uncorrected, "count") .. " memory error" .. (errors.uncorrected == 1 and "" or "s") .. " could not be corrected"
    elseif errors.pending then
      what = "a repair of the memory is pending until a reset"
    end
    local rows = errors.remapped or 0
    if rows > 0 then rows = " Spare rows replace " .. in_words(rows, "count") .. " rows of its memory already." else rows = "" end
    return what and { who = errors.gpus, what = what, rows = rows } or nil
  end,

  tests = {
    { name = "two errors", edges = { ["monitor.errors.uncorrected"] = 1 },
      facts = { monitor = { gpus = 4, errors = { gpus = "GPU 2", uncorrected = 2, pending = false, failed = false } } },
      expect = { who = "GPU 2", what = "2 memory errors could not be corrected" } },
    { name = "rows were replaced before", facts = { monitor = { gpus = 4, errors = { gpus = "GPU 2", uncorrected = 2, pending = true, failed = false, remapped = 3 } } },
      expect = { rows = " Spare rows replace 3 rows of its memory already." } },
    { name = "near miss: rows that were replaced long ago", facts = { monitor = { gpus = 4, errors = { uncorrected = 0, pending = false, failed = false, remapped = 3 } } },
      expect = "silent" },
    { name = "a repair waits", facts = { monitor = { gpus = 4, errors = { gpus = "GPU 2", uncorrected = 0, pending = true, failed = false } } },
      expect = { what = "a repair of the memory is pending until a reset" } },
    { name = "no spare row is left", facts = { monitor = { gpus = 4, errors = { gpus = "GPU 2", uncorrected = 3, pending = true, failed = true } } },
      expect = { what = "the memory can no longer be repaired" } },
    { name = "near miss: no errors", facts = { monitor = { gpus = 4, errors = { uncorrected = 0, pending = false, failed = false } } }, expect = "silent" },
    { name = "the log does not tell of errors", facts = { monitor = { gpus = 4 } }, expect = "not_applicable" },
    { name = "no monitor", facts = { monitor = { gpus = 0 } }, expect = "not_applicable" },
  },
}
