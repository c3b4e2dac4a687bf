-- NCCL's protocol LL sends four bytes of flags with four bytes of data: it is fast for small messages and moves large ones at half the
-- rate of the link. NCCL chooses by size, unless NCCL_PROTO allows LL alone.
return {
  id        = "comm/low-latency-protocol",
  title     = "Unset NCCL_PROTO: the protocol LL halves the rate of large messages",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 78,
  explains  = { "comm/exposed", "comm/full-link", "comm/dominates", "comm/low-bandwidth", "comm/slow-gradients", "environment/nccl-forced" },
  knowledge = { "K-J4", "K-C2" },
  effort    = "flag",

  needs      = { "environment.recorded", "comm.count", "comm.median", "comm.exposed", "comm.twice.remedy", "window.device_time" },
  optional   = { "environment.nccl_protocol" },
  thresholds = { "min_share", "min_median" },

  symptom = "NCCL_PROTO is {value:text}, and the median collective takes {median:time}. For {share:pct} of the time, only collectives run.",
  cause   = "With the protocol LL, half of all bytes on the link are flags, which doubles the time of large messages. It pays off for messages of a few kilobytes, where latency counts.",
  fixes   = {
    { action = "Let NCCL choose by size", snippet = "unset NCCL_PROTO", language = "bash" },
  },
  false_positives = "Messages that are all small, and late ranks that make collectives look long.",
  references = { "nccl/environment" },

  applies = function(f)
    if not f.environment.recorded then return false, "the report holds no environment" end
    if f.comm.count == 0 then return false, "no communication kernels ran" end
    return (f.environment.nccl_protocol or ""):lower() == "ll", "NCCL_PROTO does not ask for LL alone"
  end,

  detect = function(f, t)
    local exposed = share(f.comm.exposed.time, f.window.device_time)
    if not at_least(exposed, t.min_share) then return nil end
    -- Small messages take some ten microseconds in any protocol.
    if not at_least(f.comm.median, t.min_median) then return nil end
    return { value = f.environment.nccl_protocol, median = f.comm.median, share = exposed }
  end,

  saving = { claims = "comm.exposed", remedy = "comm.twice.remedy", confidence = 0.4,
             basis = "messages go at twice the rate, and no rank waits for another" },

  tests = {
    { name = "all-reduces of milliseconds with LL",
      edges = { ["comm.exposed"] = 3e7, ["comm.median"] = 5e5 },
      facts = { environment = { recorded = true, nccl_protocol = "LL" }, window = { device_time = 1e9 },
                comm = { count = 200, median = 4e6, exposed = 2e8, twice = { remedy = true } } },
      expect = { share = 0.2, value = "LL", median = 4e6 },
      saving = { claims = 2e8, remedy = 1 } },
    { name = "near miss: small messages",
      facts = { environment = { recorded = true, nccl_protocol = "LL" }, window = { device_time = 1e9 },
                comm = { count = 200, median = 3e4, exposed = 2e8, twice = { remedy = true } } },
      expect = "silent" },
    { name = "near miss: hidden behind compute",
      facts = { environment = { recorded = true, nccl_protocol = "LL" }, window = { device_time = 1e9 },
                comm = { count = 200, median = 4e6, exposed = 1e7, twice = { remedy = true } } },
      expect = "silent" },
    { name = "LL is one of several",
      facts = { environment = { recorded = true, nccl_protocol = "LL,Simple" }, comm = { count = 200 } },
      expect = "not_applicable" },
    { name = "it is not set", facts = { environment = { recorded = true }, comm = { count = 200 } }, expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
