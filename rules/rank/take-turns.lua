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
  needs      = { "rank.turns.devices", "rank.turns.together", "rank.turns.least", "rank.turns.lost", "rank.turns.share", "rank.turns.shorter", "rank.turns.part" },
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
    -- All at a time, they are done when the busiest one is.
    if not at_least(turns.shorter, t.min_share) then return nil end
    if not at_most(turns.together, t.max_together) then return nil end
    if not at_least(turns.least, t.min_least) then return nil end
    return { devices = turns.devices, share = turns.share }
  end,

  saving = function(f)
    return { claims = f.rank.turns.lost, part = f.rank.turns.part, confidence = 0.4, basis = "all GPUs work at the same time, on different parts of the data" }
  end,

  tests = {
    { name = "four GPUs, one at a time",
      edges = { ["rank.turns.least"] = 0.05, ["rank.turns.shorter"] = 0.1, ["rank.turns.together"] = 0.1 },
      facts = { rank = { turns = { devices = 4, together = 0, least = 0.24, share = 0.725, shorter = 0.71, part = 0.95, lost = 2.9e9 } } },
      expect = { devices = 4, share = 0.725 },
      saving = { claims = 2.9e9, part = 0.95, confidence = 0.4 } },
    { name = "near miss: two of them work at a time",
      facts = { rank = { turns = { devices = 4, together = 0.6, least = 0.4, share = 0.5, shorter = 0.5, part = 0.9, lost = 1.9e9 } } },
      expect = "silent" },
    { name = "near miss: one GPU helps another now and then",
      facts = { rank = { turns = { devices = 2, together = 0, least = 0.01, share = 0.45, shorter = 0.01, part = 0.02, lost = 9e8 } } },
      expect = "silent" },
    { name = "near miss: one of two has far less to do, beside the other one",
      facts = { rank = { turns = { devices = 2, together = 0.9, least = 0.19, share = 0.4, shorter = 0.02, part = 0.02, lost = 2e8 } } },
      expect = "silent" },
    { name = "near miss: hardly any work at all",
      facts = { rank = { turns = { devices = 4, together = 0, least = 0.2, share = 0.03, shorter = 0.03, part = 0.9, lost = 1e8 } } },
      expect = "silent" },
    { name = "a start shows no loop", facts = { window = { supports_verdict = false } }, expect = "not_applicable" },
    { name = "each process has its GPU",
      facts = { rank = { turns = { devices = 0, together = 0, least = 0, share = 0, shorter = 0, part = 0, lost = 0 } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
