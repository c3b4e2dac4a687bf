-- Some GPUs do nothing, while all others are "in use" at a fraction of their usual power: kernels of collectives spin there and
-- wait for a rank that does not come. So looks a rank that died, hangs or does something alone.
return {
  id        = "monitor/stopped-gpu",
  title     = "Find out why some GPUs stop while all others wait for them",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  explains  = { "monitor/low-utilisation", "monitor/busy-but-idle-inside", "monitor/uneven-use" },
  knowledge = { "K-O6", "K-O7", "K-I1" },
  effort    = "code",
  observed  = "measured",
  risk      = "limit",
  priority  = 85,

  needs      = { "monitor.gpus", "monitor.stopped.waiting", "monitor.stopped.time", "monitor.stopped.power", "monitor.stopped.to_end" },
  optional   = { "monitor.stopped.gpus" },
  thresholds = {},

  symptom = "{who:text} nothing for {time:time}{until_text:text}. Meanwhile, {others:text} in use, but at {power:pct} of the usual power.",
  cause   = "The waiting GPUs run kernels of a collective that spin until all ranks take part. The rank of an idle GPU does not: it has ended, hangs, or does something else alone.",
  fixes   = {
    { action = "Read what the ranks of the idle GPUs do", snippet = "py-spy dump --pid PID", language = "bash", ["for"] = { "python" } },
    { action = "Let PyTorch's watchdog end such a job and record which collective each rank was in",
      snippet = "export TORCH_NCCL_ASYNC_ERROR_HANDLING=1\nexport TORCH_NCCL_TRACE_BUFFER_SIZE=2000\nexport TORCH_NCCL_DUMP_ON_TIMEOUT=1",
      language = "bash", ["for"] = { "pytorch" } },
    { action = "Look for errors of these GPUs in the Linux kernel log", snippet = "dmesg -T | grep -i xid\nnvidia-smi -q -d ECC,PAGE_RETIREMENT", language = "bash", ["for"] = { "nvidia" } },
    { action = "Look for errors of these GPUs in the Linux kernel log", snippet = "dmesg -T | grep -i amdgpu\namd-smi metric --ecc", language = "bash", ["for"] = { "amd" } },
    { action = "If that rank saves or evaluates alone, let all ranks share that work or go on meanwhile" },
  },
  false_positives = "Jobs of different users on one node; then the power of those that go on rarely falls.",
  references = { "nvidia/smi", "nvidia/dcgm" },

  applies = function(f) return f.monitor.gpus > 1, "no monitor log of several GPUs was given" end,

  detect = function(f, t)
    local stopped = f.monitor.stopped
    if stopped.waiting == 0 or not stopped.gpus then return nil end
    return { who = stopped.gpus .. (starts_with(stopped.gpus, "GPUs") and " do" or " does"), time = stopped.time, power = stopped.power,
             until_text = stopped.to_end and ", up to the end of the log" or "",
             others = stopped.waiting == 1 and "the other GPU is" or "the other " .. in_words(stopped.waiting, "count") .. " GPUs are" }
  end,

  tests = {
    { name = "a rank of eight is gone",
      facts = { monitor = { gpus = 8, stopped = { gpus = "GPU 5", waiting = 7, time = 5e11, power = 0.36, to_end = true } } },
      expect = { who = "GPU 5 does", others = "the other 7 GPUs are", until_text = ", up to the end of the log" } },
    { name = "two stand still for a while",
      facts = { monitor = { gpus = 3, stopped = { gpus = "GPUs 0 and 1", waiting = 1, time = 1e11, power = 0.4, to_end = false } } },
      expect = { who = "GPUs 0 and 1 do", others = "the other GPU is", until_text = "" } },
    { name = "near miss: nobody stands still",
      facts = { monitor = { gpus = 8, stopped = { waiting = 0, time = 0, power = 0, to_end = false } } }, expect = "silent" },
    { name = "one GPU", facts = { monitor = { gpus = 1, stopped = { waiting = 0, time = 0, power = 0, to_end = false } } }, expect = "not_applicable" },
    { name = "it cannot be seen", facts = { monitor = { gpus = 8 } }, expect = "cannot_tell" },
  },
}
