-- The GPUs of one process work one after the other: layers that are spread over GPUs without several batches in flight, or
-- a loop that waits for one GPU before it starts the next.
return {
  id        = "rank/take-turns",
  title     = "Let the GPUs work at the same time",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "design",
  priority  = 83,
  explains  = { "sync/item-in-loop", "sync/device-sync-in-loop", "host/cpu-bound" },
  knowledge = { "K-G1", "K-G5" },

  needs_loop = true,
  needs      = { "rank.turns.devices", "rank.turns.together", "rank.turns.least", "rank.turns.lost", "window.device_time" },
  thresholds = { "min_share", "max_together", "min_least" },

  symptom = "One process uses {devices:count} GPUs, and they take turns: while one works, the others wait for it, each for {share:pct} of the time on average.",
  cause   = "Each GPU needs the result of the one before it, or the host waits for one GPU before it gives work to the next.",
  fixes   = {
    { action  = "If the model fits on one GPU, run one copy per GPU, each with its own part of the data; device_map=\"auto\" spreads the layers of a single copy",
      snippet = "torchrun --nproc-per-node=gpu generate.py        # in it: AutoModel.from_pretrained(name, device_map={\"\": local_rank})",
      language = "bash", ["for"] = { "pytorch" } },
    { action  = "Split each layer over all GPUs instead (tensor parallelism)",
      snippet = "model = AutoModelForCausalLM.from_pretrained(name, tp_plan=\"auto\")     # start it with torchrun", language = "python",
      ["for"] = { "pytorch" } },
    { action = "Keep several batches in flight, so that each GPU works on another one" },
    { action  = "Start the work of all GPUs before you wait for any of them",
      snippet = [[int gpus;
cudaGetDeviceCount(&gpus);
for (int d = 0; d < gpus; ++d) { cudaSetDevice(d); kernel<<<grid, block>>>(data, n); }   // does not wait
for (int d = 0; d < gpus; ++d) { cudaSetDevice(d); cudaDeviceSynchronize(); }]],
      language = "cpp", ["for"] = { "c++" } },
  },
  false_positives = "A model that needs the memory of all GPUs, and answers one request at a time.",
  references = { "pytorch/ddp", "cuda-programming/streams" },

  applies = function(f) return f.rank.turns.devices > 1, "no process uses several GPUs" end,

  detect = function(f, t)
    local turns = f.rank.turns
    local waiting = share(turns.lost.time, f.window.device_time)
    if not at_least(waiting, t.min_share) then return nil end
    if not at_most(turns.together, t.max_together) then return nil end
    if not at_least(turns.least, t.min_least) then return nil end
    return { devices = turns.devices, share = waiting }
  end,

  saving = { claims = "rank.turns.lost", confidence = 0.4, basis = "all GPUs work all the time on different parts of the data" },

  tests = {
    { name = "four GPUs, one at a time",
      edges = { ["rank.turns.least"] = 0.05, ["rank.turns.lost"] = 4e8, ["rank.turns.together"] = 0.1 },
      facts = { window = { device_time = 4e9 }, rank = { turns = { devices = 4, together = 0, least = 0.24, lost = 2.9e9 } } },
      expect = { devices = 4, share = 0.725 },
      saving = { claims = 2.9e9, confidence = 0.4 } },
    { name = "near miss: two of them work at a time",
      facts = { window = { device_time = 4e9 }, rank = { turns = { devices = 4, together = 0.9, least = 0.4, lost = 1.9e9 } } },
      expect = "silent" },
    { name = "near miss: one GPU helps another now and then",
      facts = { window = { device_time = 2e9 }, rank = { turns = { devices = 2, together = 0, least = 0.01, lost = 9e8 } } },
      expect = "silent" },
    { name = "near miss: hardly any work at all",
      facts = { window = { device_time = 4e9 }, rank = { turns = { devices = 4, together = 0, least = 0.2, lost = 1e8 } } },
      expect = "silent" },
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "each process has its GPU",
      facts = { window = { device_time = 4e9 }, rank = { turns = { devices = 0, together = 0, least = 0, lost = 0 } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
