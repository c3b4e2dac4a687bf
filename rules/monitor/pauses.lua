-- All GPUs of the job do nothing at the same time, for much longer than a step waits for its data: the program does something
-- else then. A monitor shows when, and only a timeline shows what.
return {
  id        = "monitor/pauses",
  title     = "Find out what the job does while all GPUs are idle",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  explains  = { "monitor/low-utilisation" },
  knowledge = { "K-C1", "K-F1" },
  effort    = "code",
  observed  = "measured",
  priority  = 40,

  needs      = { "monitor.gpus", "monitor.pauses.count", "monitor.pauses.time", "monitor.pauses.longest", "monitor.pauses.share" },
  optional   = { "monitor.pauses.every" },
  thresholds = { "min_share" },

  symptom = "According to the monitor, {who:text} for {total:time} in all, {share:pct} of the time of the job: {times:text}.",
  cause   = "The program does something between its steps that needs no GPU: it saves a checkpoint, evaluates or logs on the host, starts an epoch, or waits for files or requests.",
  fixes   = {
    { action = "See in the program's log what it does at these times; checkpoints can be written in the background",
      snippet = "from torch.distributed.checkpoint import async_save\nfuture = async_save({\"model\": model.state_dict()}, checkpoint_id=path)",
      language = "python", ["for"] = { "pytorch" } },
    { action = "Keep data-loader workers alive between epochs",
      snippet = "loader = DataLoader(dataset, batch_size=batch_size, num_workers=8, persistent_workers=True)", language = "python", ["for"] = { "pytorch" } },
    { action = "Capture a timeline that covers one of these pauses",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --delay=SECONDS --duration=120 -o run -- COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Capture a timeline that covers one of these pauses",
      snippet = "rocprofv3 --runtime-trace --collection-period SECONDS:120:1 --output-format json -o run -- COMMAND", language = "bash", ["for"] = { "amd" } },
  },
  false_positives = "A log of several runs one after the other, or of an interactive session.",
  references = { "nvidia/smi", "pytorch/dataloader-workers" },

  applies = function(f) return f.monitor.gpus > 0, "no monitor log was given" end,

  detect = function(f, t)
    local pauses = f.monitor.pauses
    if pauses.count == 0 or not at_least(pauses.share, t.min_share) then return nil end
    local times = "once"
    if pauses.count > 1 then
      times = in_words(pauses.count, "count") .. " times, up to " .. in_words(pauses.longest, "time")
      if pauses.every then times = times .. " and every " .. in_words(pauses.every, "time") end
    end
    return { who = f.monitor.gpus > 1 and "all GPUs do nothing" or "the GPU does nothing", total = pauses.time,
             share = pauses.share, count = pauses.count, times = times }
  end,

  tests = {
    { name = "a checkpoint of a minute every five minutes",
      edges = { ["monitor.pauses.share"] = 0.03 },
      facts = { monitor = { gpus = 8, pauses = { count = 4, time = 2.4e11, longest = 6e10, share = 0.16, every = 3e11 } } },
      expect = { who = "all GPUs do nothing", count = 4, share = 0.16 } },
    { name = "one pause of one GPU",
      facts = { monitor = { gpus = 1, pauses = { count = 1, time = 1.2e11, longest = 1.2e11, share = 0.1 } } },
      expect = { who = "the GPU does nothing", times = "once" } },
    { name = "near miss: a short pause of a long run",
      facts = { monitor = { gpus = 8, pauses = { count = 1, time = 2e10, longest = 2e10, share = 0.005 } } }, expect = "silent" },
    { name = "near miss: no pause", facts = { monitor = { gpus = 8, pauses = { count = 0, time = 0, longest = 0, share = 0 } } }, expect = "silent" },
    { name = "no monitor", facts = { monitor = { gpus = 0, pauses = { count = 0, time = 0, longest = 0, share = 0 } } }, expect = "not_applicable" },
    { name = "pauses cannot be seen", facts = { monitor = { gpus = 8 } }, expect = "cannot_tell" },
  },
}
