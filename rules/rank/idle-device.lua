-- A GPU that the job asked for does nothing. How many those are, the job's number of ranks says where it is known; GPUs of the
-- node beyond it belong to others. In a job on several GPUs that is a loss; a program on one GPU of a larger node may never have
-- asked for more, so there it is only said, and nothing is claimed.
return {
  id        = "rank/idle-device",
  title     = "Use every GPU that the job has",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  priority  = 30,
  knowledge = { "K-G1" },
  effort    = "flag",

  needs      = { "run.devices", "rank.idle.devices", "rank.idle.lost" },
  optional   = { "capture.world_size" },
  thresholds = { "claim_used", "min_share" },

  symptom = "{idle:count} of the {listed:count} GPUs that the job sees did nothing; {used:count} did work.",
  cause   = "The job has fewer processes than GPUs, or several processes chose the same device.",
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

  -- The idle GPUs could take their share of the work, if the work can be divided.
  saving = function(f, t, e)
    if not at_least(e.used, t.claim_used) then return nil end
    return { claims = f.rank.idle.lost, part = share(e.idle, e.listed), confidence = 0.3,
             basis = "the work is divided evenly among all GPUs" }
  end,

  tests = {
    { name = "three of four GPUs work",
      facts = { run = { devices = 3 }, rank = { idle = { devices = 1, lost = 1e9 } } },
      expect = { idle = 1, used = 3, listed = 4 } },
    { name = "a single-GPU program on a node with four: said, but nothing is claimed",
      facts = { run = { devices = 1 }, rank = { idle = { devices = 3, lost = 1e9 } } },
      expect = { idle = 3, used = 1, listed = 4 } },
    { name = "near miss: one GPU of a hundred",
      facts = { run = { devices = 99 }, rank = { idle = { devices = 1, lost = 1e9 } } }, expect = "silent" },
    { name = "one rank of eight: what the other GPUs do is not known",
      facts = { run = { devices = 1 }, rank = { idle = { devices = 7, lost = 1e9 } }, capture = { world_size = 8 } },
      expect = "not_applicable" },
    { name = "a job of two ranks on a node with eight GPUs",
      facts = { run = { devices = 2 }, rank = { idle = { devices = 6, lost = 1e9 } }, capture = { world_size = 2 } },
      expect = "not_applicable" },
    { name = "all of them work", facts = { run = { devices = 4 }, rank = { idle = { devices = 0, lost = 1e9 } } }, expect = "not_applicable" },
    { name = "the report lists no GPUs", facts = { run = { devices = 2 } }, expect = "cannot_tell" },
  },
}
