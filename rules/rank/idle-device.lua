-- GPUs of the node do nothing. A report lists what the driver sees, not what the job was given: the others may belong to other
-- jobs, and no report shows whether the work could be divided further. So this is only said, and nothing is claimed.
return {
  id        = "rank/idle-device",
  title     = "Check that the job uses every GPU that it was given",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 30,
  knowledge = { "K-G1" },
  effort    = "flag",

  needs      = { "run.devices", "rank.idle.devices" },
  optional   = { "capture.world_size" },
  thresholds = { "min_share" },

  symptom = "The report shows work on {used:count} of the {listed:count} GPUs of the node. The rest may be idle, or in use by other processes.",
  cause   = "The GPUs belong to other jobs, the job has fewer processes than GPUs, or several processes chose the same device.",
  fixes   = {
    { action = "Start one process per GPU",
      snippet = "torchrun --nproc-per-node=gpu train.py", language = "bash", ["for"] = { "pytorch" } },
    { action = "With Slurm, start one task per GPU",
      snippet = "srun --ntasks-per-node=4 --gpus-per-node=4 COMMAND", language = "bash" },
    { action = "Let each process use the GPU of its local rank",
      snippet = "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))", language = "python", ["for"] = { "pytorch" } },
    { action = "If you do not need all of them, request fewer GPUs" },
    { action = "In MPI programs, let each process use the GPU of its local rank",
      snippet = "MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);\nMPI_Comm_rank(node, &local_rank);\ncudaSetDevice(local_rank);", language = "cpp", ["for"] = { "mpi", "c++" } },
  },
  false_positives = "A capture of only some of the ranks, or a GPU that belongs to another job on the node.",
  references = { "pytorch/ddp" },

  applies = function(f)
    if f.rank.idle.devices == 0 then return false, "every GPU that the job sees did work" end
    local world = f.capture.world_size
    if world and world > f.run.devices then return false, "only some ranks of the job are in this report" end
    if world and world > 0 then return false, "each rank of the job has a GPU; the other GPUs do not belong to the job" end
    return f.run.devices > 0, "no GPU work was recorded"
  end,

  detect = function(f, t)
    local listed = f.run.devices + f.rank.idle.devices
    if not at_least(share(f.rank.idle.devices, listed), t.min_share) then return nil end
    return { idle = f.rank.idle.devices, used = f.run.devices, listed = listed }
  end,

  tests = {
    { name = "three of four GPUs work",
      edges = { ["rank.idle.devices"] = 0.0612 },
      facts = { run = { devices = 3 }, rank = { idle = { devices = 1} } },
      expect = { idle = 1, used = 3, listed = 4 } },
    { name = "a single-GPU program on a node with four: the same",
      facts = { run = { devices = 1 }, rank = { idle = { devices = 3} } },
      expect = { idle = 3, used = 1, listed = 4 } },
    { name = "near miss: one GPU of a hundred",
      facts = { run = { devices = 99 }, rank = { idle = { devices = 1} } }, expect = "silent" },
    { name = "one rank of eight: what the other GPUs do is not known",
      facts = { run = { devices = 1 }, rank = { idle = { devices = 7} }, capture = { world_size = 8 } },
      expect = "not_applicable" },
    { name = "a job of two ranks on a node with eight GPUs",
      facts = { run = { devices = 2 }, rank = { idle = { devices = 6} }, capture = { world_size = 2 } },
      expect = "not_applicable" },
    { name = "all of them work", facts = { run = { devices = 4 }, rank = { idle = { devices = 0} } }, expect = "not_applicable" },
    { name = "the report lists no GPUs", facts = { run = { devices = 2 } }, expect = "cannot_tell" },
  },
}
