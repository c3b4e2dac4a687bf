-- PyTorch's watchdog gave a collective up and ended the job. The log names it, and often the connection that failed before it.
return {
  id        = "topology/collective-timeout",
  title     = "Find out why a collective never ended: the watchdog gave up",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  explains  = { "topology/nccl-warnings", "monitor/hang" },
  knowledge = { "K-J4" },
  effort    = "flag",
  observed  = "recorded",
  risk      = "limit",
  priority  = 96,

  needs      = { "nccl.timeout.count", "nccl.peer.status", "nccl.warnings" },
  optional   = { "nccl.timeout.ranks", "nccl.timeout.operation", "nccl.timeout.time", "nccl.timeout.source", "nccl.peer.address", "nccl.version" },
  thresholds = { "min_count", "no_answer" },

  symptom = "The watchdog of {who:text} gave up on {what:text}{after:text}{where:text}.{lost:text}",
  cause   = "{why:text}",
  fixes   = {
    { reason = "peer", action = "Look at the process and the host of the peer first: did it end, was it killed, does its port work?",
      snippet = "ibstat\nibqueryerrors\ndmesg -T | grep -e mlx5 -e NVRM", language = "bash" },
    { reason = "peer", action = "Raise the timeout of the network only after that, where links are known to recover", snippet = "export NCCL_IB_TIMEOUT=22", language = "bash" },
    { reason = "rank", action = "Find the rank that did not take part: compare the logs of all ranks, and look for the one without this message, or with an earlier error" },
    { reason = "rank", action = "Let PyTorch record which collective each rank was in",
      snippet = "export TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1", language = "bash", ["for"] = { "pytorch" } },
    { reason = "rank", action = "If one rank has work that takes long, such as a checkpoint, raise the timeout",
      snippet = "from datetime import timedelta\ndist.init_process_group(\"nccl\", timeout=timedelta(minutes=30))", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "A job that somebody stopped: the ranks that still run then wait for the others.",
  references = { "pytorch/distributed-debug", "nccl/troubleshooting", "nccl/environment" },

  applies = function(f) return f.nccl.timeout.count > 0 or f.nccl.warnings > 0 or f.nccl.version ~= nil, "no log of NCCL or of PyTorch was given" end,

  detect = function(f, t)
    local timeout, peer = f.nccl.timeout, f.nccl.peer
    if not at_least(timeout.count, t.min_count) then return nil end
    local lost = peer.status > 0
    local address = peer.address or "another rank"
    local meaning = between(peer.status, t.no_answer, t.no_answer) and ": no answer after all retries" or ""
    return { who = timeout.ranks or "a rank", what = "a collective" .. (timeout.operation and " (" .. timeout.operation .. ")" or ""),
             after = timeout.time and " after " .. in_words(timeout.time, "time") or "",
             where = timeout.source and ", according to " .. timeout.source or "",
             lost = lost and " The network operation with " .. address .. " failed (status " .. tostring(peer.status) .. meaning .. ")." or "",
             why = lost and "The rank lost the connection to its peer, and the collective could never end. All ranks stood still until the watchdog ended the job."
                   or "At least one rank did not take part: it failed, was late for longer than the timeout, or called a different collective. All others stood still until the watchdog ended the job.",
             reason = lost and "peer" or "rank" }
  end,

  tests = {
    { name = "the connection was lost", edges = { ["nccl.timeout.count"] = 1 },
      facts = { nccl = { warnings = 2, timeout = { count = 1, ranks = "rank 3", operation = "ALLREDUCE", time = 6.00012e11, source = "run.log:6" },
                         peer = { status = 12, address = "10.0.0.2" } } },
      expect = { who = "rank 3", what = "a collective (ALLREDUCE)", reason = "peer",
                 lost = " The network operation with 10.0.0.2 failed (status 12: no answer after all retries)." } },
    { name = "a rank did not come", facts = { nccl = { warnings = 0, timeout = { count = 3, ranks = "ranks 0, 1, 2" }, peer = { status = 0 } } },
      expect = { who = "ranks 0, 1, 2", what = "a collective", after = "", where = "", lost = "", reason = "rank" } },
    { name = "near miss: warnings, and no timeout", facts = { nccl = { warnings = 2, timeout = { count = 0 }, peer = { status = 0 } } }, expect = "silent" },
    { name = "no log", facts = { nccl = { warnings = 0, timeout = { count = 0 }, peer = { status = 0 } } }, expect = "not_applicable" },
  },
}
