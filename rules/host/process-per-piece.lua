-- One program is started again for each piece of work. Each process loads libraries, makes a context and allocates before its
-- first kernel, and the GPU is idle until then. One process pays for that once.
return {
  id        = "host/process-per-piece",
  title     = "Keep one process for all pieces of work",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  effort    = "code",
  priority  = 80,
  explains  = { "host/start-up", "memory/alloc-in-loop", "transfer/blocking-copy", "host/cpu-bound", "host/jit-in-loop" },
  knowledge = { "K-C7", "K-H7" },

  needs      = { "host.restarts.processes", "host.restarts.lost", "window.device_time" },
  thresholds = { "min_processes", "min_share" },

  symptom = "The program is started {processes:count} times, one after the other. Between the last work of one process and the first of the next, the GPU is idle for {share:pct} of the time.",
  cause   = "Each process loads its libraries, makes a context of the GPU and allocates memory before its first kernel.",
  fixes   = {
    { action = "Give one process all pieces: loop over them inside the program, and keep its memory from piece to piece",
      snippet = "import sys\n\nmodel.to(\"cuda\")                      # once\nfor path in sys.argv[1:]:\n    process(path)", language = "python", ["for"] = { "python" } },
    { action = "Give one process all pieces: loop over them inside the program, and keep its memory from piece to piece",
      snippet = "cudaMalloc(&buffer, bytes);              // once\nfor (int i = 0; i < count; ++i) process(i, buffer);",
      language = "cpp", ["for"] = { "c++" } },
    { action = "Read the next piece in another thread while the GPU works on this one" },
    { action = "If the program cannot be changed, run several processes at the same time, and share the GPU by MPS",
      snippet = "nvidia-cuda-mps-control -d\nxargs -n 1 -P 4 COMMAND < pieces.txt", language = "bash", ["for"] = { "nvidia" } },
  },
  false_positives = "Processes that wait for something else between two runs, such as a job queue.",
  references = { "cuda/mps" },

  applies = function(f) return f.host.restarts.processes > 0, "no process follows another with the same work" end,

  detect = function(f, t)
    local lost = share(f.host.restarts.lost.time, f.window.device_time)
    if not at_least(f.host.restarts.processes, t.min_processes) or not at_least(lost, t.min_share) then return nil end
    return { share = lost, processes = f.host.restarts.processes }
  end,

  saving = { claims = "host.restarts.lost", part = 1, confidence = 0.5,
             basis = "one process starts once, and reads the next piece while the GPU works" },

  tests = {
    { name = "two hundred short processes",
      edges = { ["host.restarts.processes"] = 6, ["host.restarts.lost"] = 5e7 },
      facts = { window = { device_time = 1e9 }, host = { restarts = { processes = 200, lost = 9e8 } } },
      expect = { share = 0.9, processes = 200 }, saving = { claims = 9e8, confidence = 0.5 } },
    { name = "near miss: a benchmark that is repeated",
      facts = { window = { device_time = 1e9 }, host = { restarts = { processes = 5, lost = 9e8 } } },
      expect = "silent" },
    { name = "near miss: processes that work for long and start quickly",
      facts = { window = { device_time = 1e9 }, host = { restarts = { processes = 20, lost = 4e7 } } },
      expect = "silent" },
    { name = "one process",
      facts = { window = { device_time = 1e9 }, host = { restarts = { processes = 0, lost = 0 } } },
      expect = "not_applicable" },
    { name = "nothing was recorded", facts = {}, expect = "cannot_tell" },
  },
}
