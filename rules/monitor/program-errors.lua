-- The driver ended work on a GPU because of an error that programs make: an access out of bounds, or to memory that was freed (Xid
-- 13, 31, 43, 45). The job stopped, or went on without the result.
return {
  id        = "monitor/program-errors",
  title     = "Find the kernel that makes an invalid access",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  knowledge = { "K-O7" },
  effort    = "code",
  observed  = "recorded",
  risk      = "wrong-results",
  priority  = 80,

  needs      = { "monitor.gpus" },
  optional   = { "monitor.xid.program.code", "monitor.xid.program.gpus", "monitor.xid.program.says" },
  thresholds = {},

  symptom = "The driver reported Xid {code:num} on {who:text}: {what:text}.",
  cause   = "After such an error all further calls of the program fail. If it happens on one GPU only, and with programs that work elsewhere, the board may be at fault.",
  fixes   = {
    { action = "Run a small case under compute-sanitizer: it names the kernel and the access", snippet = "compute-sanitizer --tool memcheck COMMAND", language = "bash", ["for"] = { "nvidia" } },
    { action = "Let each launch wait for its kernel while you search, so that the error names the line", snippet = "CUDA_LAUNCH_BLOCKING=1 COMMAND", language = "bash", ["for"] = { "pytorch" } },
    { action = "Run the same program on another GPU: if it works there, have the first one tested" },
  },
  false_positives = "A program that somebody stopped while the GPU worked (Xid 45).",
  references = { "nvidia/xid" },

  applies = function(f) return f.monitor.xid.program.code ~= nil, "no log tells of errors that the driver reports" end,

  detect = function(f)
    local xid = f.monitor.xid.program
    if xid.code == 0 then return nil end
    return { code = xid.code, who = xid.gpus or "a GPU", what = xid.says or "a program made an error" }
  end,

  tests = {
    { name = "an access out of bounds", facts = { monitor = { gpus = 4, xid = { program = { code = 31, gpus = "GPU 0", says = "a kernel accessed memory that is not mapped" } } } },
      expect = { code = 31, who = "GPU 0", what = "a kernel accessed memory that is not mapped" } },
    { name = "near miss: no error", facts = { monitor = { gpus = 4, xid = { program = { code = 0 } } } }, expect = "silent" },
    { name = "no log tells", facts = { monitor = { gpus = 2, xid = { program = {} } } }, expect = "not_applicable" },
  },
}
