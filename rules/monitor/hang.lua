-- All GPUs are in use up to the end of the log, at a fraction of the power that they drew before and without any traffic of their
-- memory: each runs a kernel that only spins. So looks a job whose collective never ends.
return {
  id        = "monitor/hang",
  title     = "Find out why the job hangs: its GPUs only wait for each other",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  explains  = { "monitor/low-utilisation", "monitor/busy-but-idle-inside" },
  knowledge = { "K-O6", "K-O7", "K-I1" },
  effort    = "code",
  observed  = "measured",
  risk      = "limit",
  priority  = 84,

  needs      = { "monitor.gpus", "monitor.hang.gpus", "monitor.hang.time", "monitor.hang.power" },
  thresholds = {},

  symptom = "For the last {time:time} of the log, all {gpus:count} GPUs are in use, but draw {power:pct} of the power that they drew before, and their memory has no traffic.",
  cause   = "A kernel that spins counts as in use. Collectives do so until all ranks take part; here one does not, or ranks called collectives in a different order.",
  fixes   = {
    { action = "Read what each rank does, and end the job", snippet = "py-spy dump --pid PID", language = "bash", ["for"] = { "python" } },
    { action = "Let PyTorch's watchdog end such a job and record which collective each rank was in",
      snippet = "export TORCH_NCCL_ASYNC_ERROR_HANDLING=1\nexport TORCH_NCCL_TRACE_BUFFER_SIZE=2000\nexport TORCH_NCCL_DUMP_ON_TIMEOUT=1",
      language = "bash", ["for"] = { "pytorch" } },
    { action = "Look for errors of links, adapters and GPUs in the Linux kernel log", snippet = "dmesg -T | grep -i -e xid -e mlx5 -e nvlink", language = "bash", ["for"] = { "nvidia" } },
    { action = "Check that all ranks take the same branches: a collective that one rank skips stops all others" },
  },
  false_positives = "A last phase of tiny kernels, such as a simulation on the host that asks the GPU for single steps.",
  references = { "nvidia/smi", "nvidia/dcgm" },

  applies = function(f) return f.monitor.gpus > 1, "no monitor log of several GPUs was given" end,

  detect = function(f)
    local hang = f.monitor.hang
    if hang.gpus == 0 then return nil end
    return { gpus = hang.gpus, time = hang.time, power = hang.power }
  end,

  tests = {
    { name = "four GPUs spin", facts = { monitor = { gpus = 4, hang = { gpus = 4, time = 1.8e11, power = 0.22 } } }, expect = { gpus = 4, power = 0.22 } },
    { name = "near miss: they work", facts = { monitor = { gpus = 4, hang = { gpus = 0, time = 0, power = 0 } } }, expect = "silent" },
    { name = "one GPU", facts = { monitor = { gpus = 1, hang = { gpus = 0, time = 0, power = 0 } } }, expect = "not_applicable" },
    { name = "it cannot be seen", facts = { monitor = { gpus = 8 } }, expect = "cannot_tell" },
  },
}
