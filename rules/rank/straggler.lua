-- One device comes last at most collectives, and the others wait for it inside their communication kernels.
-- What the fixes go by, from what the late rank does longer.
local function reason_of(cause)
  if not cause then return "unknown" end
  if contains(cause, "prepares that data") then return "prepare" end
  if contains(cause, "more slowly") and contains(cause, "copies") then return "link" end
  if contains(cause, "data") or contains(cause, "loading") then return "data" end
  if contains(cause, "another model") then return "model" end
  if contains(cause, "kernels run more slowly") then return "clock" end
  if contains(cause, "not captured") then return "before" end
  if contains(cause, "kernel launch takes") then return "cpu" end
  if contains(cause, "in some steps") then return "times" end
  if contains(cause, "blocked") then return "blocked" end
  return contains(cause, "more work") and "work" or "host"
end

return {
  id        = "rank/straggler",
  title     = "Speed up the rank that the others wait for",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 77,   -- below the rules that say what a rank does while the others wait, such as step/periodic-stall
  explains  = { "comm/exposed", "comm/full-link", "comm/mpi-imbalance", "sync/host-busy-wait", "step/backward-gaps" },
  knowledge = { "K-I1", "K-G4", "K-G5", "K-I5", "K-B2" },
  effort    = "code",
  topic     = "late-rank",

  needs      = { "run.devices", "rank.late.device", "rank.late.share", "rank.late.lateness", "rank.late.lost", "rank.late.remedy",
                 "window.device_time" },
  optional   = { "rank.late.cause", "rank.late.at", "rank.late.largest", "cluster.reports", "cluster.processes", "rank.imbalance.compute.behind",
                 "rank.imbalance.input.steps" },
  thresholds = { "min_behind", "min_data_steps", "min_late", "min_share", "one_stop" },

  symptom = "{late:pct} of the waiting at {at:text} is for {who:text} {device:num}, which arrives {lateness:time} after the others on average. This waiting takes {share:pct} of the time.",
  cause   = "The reason it is late: {what:text}. Ranks that exchange data continue only when the last of them arrives.",
  fixes   = {
    { reason = "data", action = "Give ranks equal shares of the data, and the same number of loader workers and cores each",
      snippet = "sampler = DistributedSampler(dataset, shuffle=True, drop_last=True)", language = "python", ["for"] = { "pytorch" } },
    { reason = "data", action = "Read what the next step needs on another thread, or let all ranks read their parts at once, for instance with MPI-IO",
      snippet = "MPI_File_read_at_all(file, offset, parts, count, MPI_DOUBLE, MPI_STATUS_IGNORE);", language = "cpp", ["for"] = { "c++", "fortran", "openacc", "mpi" } },
    { reason = "prepare", action = "Prepare batches in workers of the data loader, as many on each rank, so that this code runs while the GPU computes",
      snippet = "loader = DataLoader(dataset, batch_size=32, num_workers=8, pin_memory=True, prefetch_factor=4, persistent_workers=True)",
      language = "python", ["for"] = { "pytorch", "training" } },
    { reason = "prepare", action = "Prepare the data of the next step on another thread while the GPU computes" },
    { reason = "prepare", action = "Divide the data by what it costs to prepare, so that all ranks take equally long" },
    { reason = "work", action = "Balance batches by length, so that ranks compute equally long", ["for"] = { "python" } },
    { reason = "work", action = "Divide the problem by cost, not by cells, so that ranks compute equally long", ["for"] = { "c++", "fortran", "openacc" } },
    { reason = "model", action = "Ask for GPUs of one model, or give the ranks with the slower one less of each batch",
      snippet = "#SBATCH --constraint=h100        # or: --gres=gpu:h100:4, as the site calls them", language = "bash" },
    { reason = "times", action = "If the late rank evaluates, let all ranks do so, each with its part of the data: the others wait for it anyway",
      snippet = "sampler = DistributedSampler(dataset, shuffle=False)   # and sum the results over all ranks", language = "python", ["for"] = { "pytorch" } },
    { reason = "times", action = "Do it in another job, from a checkpoint" },
    { reason = "clock", action = "Look at the clocks, the temperature and other processes of that GPU, and compare with another GPU",
      snippet = "nvidia-smi --query-gpu=index,clocks.sm,temperature.gpu,clocks_event_reasons.active --format=csv -l 1",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "clock", action = "Look at the clocks, the temperature and other processes of that GPU, and compare with another GPU",
      snippet = "amd-smi metric --clock --temperature --power", language = "bash", ["for"] = { "amd" } },
    { reason = "cpu", action = "Give this rank as many cores of its own as the others, next to its GPU",
      snippet = "srun --cpus-per-task=16 --cpu-bind=cores COMMAND", language = "bash" },
    { reason = "cpu", action = "Look at the clocks of its cores, and at what else runs on them",
      snippet = "grep MHz /proc/cpuinfo | sort -k4n | head -3\ntop -b -n1 | head -20", language = "bash" },
    { reason = "host", action = "Divide what the host computes by its cost, so that all ranks take equally long", ["for"] = { "c++", "fortran", "openacc" } },
    { reason = "host", action = "Look for what only this rank does, such as logging, output, checkpoints or batches that take longer to make, and let all ranks share it" },
    { reason = "host", action = "Bind each rank to its own cores, next to its GPU",
      snippet = "srun --cpus-per-task=16 --cpu-bind=cores COMMAND", language = "bash" },
    { reason = "blocked", action = "Find what its launching thread waits for, or why it sleeps: record call stacks and thread states on this rank",
      snippet = "nsys profile --trace=cuda,nvtx,osrt --sample=process-tree --cpuctxsw=process-tree -o late-rank -- COMMAND",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "link", action = "Bind each rank to the cores and the memory next to its GPU, before it allocates its buffers",
      snippet = "nvidia-smi topo -m                                   # NUMA affinity of each GPU\nsrun --cpu-bind=cores --mem-bind=local COMMAND   # or: numactl --cpunodebind=N --membind=N COMMAND",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "link", action = "Compare the width and speed of that GPU's link with those of the others",
      snippet = "nvidia-smi --query-gpu=index,pcie.link.gen.current,pcie.link.width.current --format=csv", language = "bash", ["for"] = { "nvidia" } },
    { reason = "before", action = "Capture at least five steps: what this rank loads, logs or saves between steps is then recorded",
      snippet = "schedule = torch.profiler.schedule(wait=1, warmup=2, active=5)   # and prof.step() after each step",
      language = "python", ["for"] = { "pytorch" } },
    { reason = "before", action = "Take logging, output and checkpoints off this rank, or let all ranks share them" },
    { reason = "unknown", action = "Capture this rank and one of the others with CPU samples, and compare their steps" },
  },
  false_positives = "Pipeline stages, where the last stage is late by design.",
  references = { "nccl/collectives", "pytorch/ddp" },

  applies = function(f) return f.run.devices > 1, "only one device did work" end,

  detect = function(f, t)
    local late = f.rank.late
    local lost = share(late.lost.time, f.window.device_time)
    if not at_least(late.share, t.min_late) or not at_least(lost, t.min_share) then return nil end
    -- Ahead in some steps by much: its batches are longer now and then (rank/compute-imbalance).
    local reason, behind = reason_of(late.cause), f.rank.imbalance.compute.behind
    if (reason == "clock" or reason == "work" or reason == "times") and behind and not at_least(behind, t.min_behind) then return nil end
    -- One batch that loads slowly makes no slow rank.
    local waits = f.rank.imbalance.input.steps
    if reason == "data" and waits and not at_least(waits, t.min_data_steps) then return nil end
    -- One stop of its host makes no slow rank either: step/outlier tells of it.
    if (reason == "host" or reason == "blocked") and f.rank.late.largest and at_least(f.rank.late.largest, t.one_stop) then return nil end
    local who = ((f.cluster.reports or 1) > 1 or (f.cluster.processes or 1) > 1) and "rank" or "GPU"
    return { who = who, at = late.at == "steps" and "the ends of steps" or late.at or "collectives", device = late.device, late = late.share, lateness = late.lateness, share = lost,
             reason = reason, what = late.cause or "not visible in this capture" }
  end,

  saving = { claims = "rank.late.lost", remedy = "rank.late.remedy", confidence = 0.7,
             basis = "the late rank is as fast as the next-slowest one, or its surplus work is spread over all ranks" },

  tests = {
    { name = "device 3 of 4 loads longer than the others",
      edges = { ["rank.late.lost"] = 4e7, ["rank.late.share"] = 0.6 },
      facts = { window = { device_time = 4e9 }, run = { devices = 4 },
                rank = { late = { device = 3, share = 0.95, lateness = 12e6, cause = "loading", lost = 8e8, remedy = true } } },
      expect = { device = 3, late = 0.95, lateness = 12e6, share = 0.2, what = "loading", reason = "data" },
      saving = { claims = 8e8 } },
    { name = "near miss: one slow batch in twenty steps",
      edges = { ["rank.imbalance.input.steps"] = 0.2 },
      facts = { window = { device_time = 4e9 }, run = { devices = 4 },
                rank = { imbalance = { input = { steps = 0.05 } },
                         late = { device = 3, share = 0.95, lateness = 12e6, cause = "it waits longer for data", lost = 8e8, remedy = true } } },
      expect = "silent" },
    { name = "rank 0 evaluates in every sixth step",
      facts = { window = { device_time = 4e9 }, run = { devices = 4 }, cluster = { reports = 4 },
                rank = { imbalance = { compute = { behind = 1 } },
                         late = { device = 0, share = 0.99, lateness = 7e6, cause = "in some steps it computes far longer, as for an evaluation", lost = 8e8, remedy = true } } },
      expect = { device = 0, reason = "times" } },
    { name = "rank 5 of a job with a report a rank",
      facts = { window = { device_time = 8e9 }, run = { devices = 8 }, cluster = { reports = 8 },
                rank = { late = { device = 5, share = 0.9, lateness = 9e6, cause = "it waits longer for data", lost = 8e8, remedy = true } } },
      expect = { who = "rank", device = 5, share = 0.1 } },
    { name = "a solver that talks by MPI: ranks are compared by the ends of their steps",
      facts = { window = { device_time = 8e9 }, run = { devices = 4 }, cluster = { reports = 4 },
                rank = { late = { device = 3, share = 0.7, at = "steps", lateness = 6e5, cause = "it has more work on the GPU", lost = 4e8, remedy = true } } },
      expect = { who = "rank", at = "the ends of steps", share = 0.05, reason = "work" } },
    { name = "a rank on the other socket than its GPU",
      facts = { window = { device_time = 8e9 }, run = { devices = 4 }, cluster = { reports = 4 },
                rank = { late = { device = 1, share = 0.9, at = "steps", lateness = 1e6, cause = "it copies as much as the others, but more slowly", lost = 8e8, remedy = true } } },
      expect = { device = 1, reason = "link" } },
    { name = "one rank makes its batches more slowly",
      facts = { window = { device_time = 8e9 }, run = { devices = 4 }, cluster = { reports = 4 },
                rank = { imbalance = { input = { steps = 0 } },
                         late = { device = 2, share = 1.0, lateness = 4e6, lost = 8e8, remedy = true,
                                  cause = "its host code takes longer right before it copies data to the GPU, and probably prepares that data" } } },
      expect = { device = 2, reason = "prepare" } },
    { name = "the cores of one rank are shared",
      facts = { window = { device_time = 8e9 }, run = { devices = 4 }, cluster = { reports = 4 },
                rank = { late = { device = 1, share = 0.9, lateness = 1e6, lost = 8e8, remedy = true,
                                  cause = "each kernel launch takes 21.5 µs there, and 4.30 µs on other ranks (slow or shared cores)" } } },
      expect = { device = 1, reason = "cpu" } },
    { name = "rank 0 writes the output of all",
      facts = { window = { device_time = 8e9 }, run = { devices = 4 }, cluster = { reports = 4 },
                rank = { late = { device = 0, share = 0.9, at = "steps", lateness = 1e6, cause = "it writes files", lost = 8e8, remedy = true } } },
      expect = { device = 0, reason = "host" } },
    { name = "a scheduler that only this rank has waits for a lock",
      facts = { window = { device_time = 8e9 }, run = { devices = 2 }, cluster = { reports = 2 },
                rank = { late = { device = 0, share = 1.0, lateness = 2.9e7, cause = "its host is blocked in the operating system for longer",
                                  lost = 2e9, remedy = true } } },
      expect = { device = 0, reason = "blocked" } },
    { name = "near miss: the host of a rank stops once in thirty steps",
      facts = { window = { device_time = 8e9 }, run = { devices = 3 }, cluster = { reports = 3 },
                rank = { late = { device = 0, share = 0.97, at = "steps", lateness = 6.6e5, largest = 0.97, cause = "its host is slower",
                                  lost = 4e8, remedy = true } } },
      expect = "silent" },
    { name = "a slow host, and one stop of it",
      edges = { ["rank.late.largest"] = 0.8 },
      facts = { window = { device_time = 8e9 }, run = { devices = 3 }, cluster = { reports = 3 },
                rank = { late = { device = 0, share = 0.97, at = "steps", lateness = 6.6e5, largest = 0.6, cause = "its host is slower",
                                  lost = 4e8, remedy = true } } },
      expect = { device = 0, reason = "host" } },
    { name = "one step was captured, and this rank began it late",
      facts = { window = { device_time = 8e9 }, run = { devices = 8 }, cluster = { reports = 8 },
                rank = { late = { device = 7, share = 0.8, lateness = 1e6, cause = "it began later, with work that was not captured", lost = 8e8, remedy = true } } },
      expect = { device = 7, reason = "before" } },
    { name = "near miss: one of two ranks has the longer batches more often",
      edges = { ["rank.imbalance.compute.behind"] = 0.75 },
      facts = { window = { device_time = 6e9 }, run = { devices = 2 }, cluster = { reports = 2 },
                rank = { imbalance = { compute = { behind = 0.55 } },
                         late = { device = 0, share = 0.77, lateness = 16e6, cause = "it has more work on the GPU", lost = 1.7e9, remedy = true } } },
      expect = "silent" },
    { name = "the ranks of one report, and what the host does longer",
      facts = { window = { device_time = 4e9 }, run = { devices = 4 }, cluster = { reports = 1, processes = 4 },
                rank = { late = { device = 2, share = 0.9, lateness = 3e6, at = "steps", cause = "it launches more kernels", lost = 4e8, remedy = true } } },
      expect = { who = "rank", device = 2, at = "the ends of steps" } },
    { name = "late without a visible cause",
      facts = { window = { device_time = 2e9 }, run = { devices = 2 },
                rank = { late = { device = 0, share = 0.8, lateness = 3e6, lost = 2e8, remedy = true } } },
      expect = { device = 0, share = 0.1, what = "not visible in this capture", reason = "unknown" } },
    { name = "near miss: the devices take turns at being late",
      facts = { window = { device_time = 4e9 }, run = { devices = 4 },
                rank = { late = { device = 2, share = 0.31, lateness = 1e6, cause = "compute", lost = 2e8, remedy = true } } },
      expect = "silent" },
    { name = "near miss: always last, by next to nothing",
      facts = { window = { device_time = 4e9 }, run = { devices = 4 },
                rank = { late = { device = 2, share = 0.9, lateness = 5e3, cause = "launch", lost = 1e7, remedy = true } } },
      expect = "silent" },
    { name = "one device", facts = { window = { device_time = 1e9 }, run = { devices = 1 } }, expect = "not_applicable" },
    { name = "no collectives to compare at", facts = { window = { device_time = 2e9 }, run = { devices = 2 } }, expect = "cannot_tell" },
  },
}
