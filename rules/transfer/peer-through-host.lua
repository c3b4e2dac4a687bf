-- Bytes leave one GPU for the host and are uploaded to another GPU soon after. Two trips over the host link at half the
-- rate at best, through host memory, where the GPUs could talk to each other.
return {
  id        = "transfer/peer-through-host",
  title     = "Copy directly from GPU to GPU, not through host memory",
  status    = "stable",
  since     = "0.1",
  kind      = "root",
  effort    = "code",
  priority  = 77,
  explains  = { "transfer/exposed-copy", "transfer/copy-dominates", "transfer/pageable-copy", "transfer/blocking-copy",
                "transfer/round-trip" },
  knowledge = { "K-J1" },

  loss       = "copy.through_host",
  evidence   = { "count", "bytes", devices = "run.devices" },
  thresholds = { "min_share", "min_count" },

  symptom = "{bytes:bytes} go from one GPU to another through host memory, in {count:count} copies. Meanwhile, the GPU computes nothing for {share:pct} of the time.",
  cause   = "Each byte crosses the host link twice; a direct copy over PCIe crosses it once, and NVLink is faster still.",
  fixes   = {
    { action  = "Copy from device to device, with peer access enabled",
      snippet = [[int ok = 0;
cudaDeviceCanAccessPeer(&ok, to, from);
if (ok) { cudaSetDevice(to); cudaDeviceEnablePeerAccess(from, 0); }
cudaMemcpyPeerAsync(dst, to, src, from, bytes, stream);]],
      language = "cpp", ["for"] = { "c++" } },
    { action  = "In PyTorch, move tensors directly or with NCCL, without .cpu()",
      snippet = [[y = x.to("cuda:1", non_blocking=True)
torch.distributed.send(x, dst=1)          # between processes, with the nccl backend]],
      language = "python", ["for"] = { "pytorch" } },
    { action  = "With MPI, pass device pointers to a CUDA-aware library; check that the GPUs can reach each other",
      snippet = "nvidia-smi topo -p2p rw\nompi_info --parsable --all | grep mpi_built_with_cuda_support:value",
      language = "bash", ["for"] = { "nvidia" } },
    { action = "Move arrays directly from device to device, without NumPy",
      snippet = "y = jax.device_put(x, jax.devices()[1])     # not np.asarray(x) first", language = "python", ["for"] = { "jax" } },
  },
  false_positives = "GPUs that cannot reach each other (some consumer cards, virtual machines, containers without shared memory).",
  references = { "cuda-best-practices/transfers", "nccl/troubleshooting" },

  applies = function(f) return f.run.devices >= 2, "only one GPU did work" end,

  saving = { confidence = 0.6, basis = "one direct copy replaces two over the host link" },

  tests = {
    { name = "halo exchange through the host",
      edges = { ["copy.through_host.count"] = 3, ["copy.through_host.lost"] = 1e7 },
      facts = { window = { device_time = 2e9 }, run = { devices = 2 },
                copy = { through_host = { count = 100, bytes = 1e9, lost = 2e8, remedy = true } } },
      expect = { share = 0.1, count = 100, bytes = 1e9, devices = 2 }, saving = { claims = 2e8, confidence = 0.6 } },
    { name = "near miss: results of the same size, at no cost",
      facts = { window = { device_time = 2e9 }, run = { devices = 2 },
                copy = { through_host = { count = 100, bytes = 1e6, lost = 2e6, remedy = true } } },
      expect = "silent" },
    { name = "near miss: once or twice",
      facts = { window = { device_time = 2e9 }, run = { devices = 2 },
                copy = { through_host = { count = 2, bytes = 1e9, lost = 2e8, remedy = true } } },
      expect = "silent" },
    { name = "one GPU", facts = { window = { device_time = 1e9 }, run = { devices = 1 } }, expect = "not_applicable" },
    { name = "copies cannot be told", facts = { window = { device_time = 2e9 }, run = { devices = 2 } }, expect = "cannot_tell" },
  },
}
