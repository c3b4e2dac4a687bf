-- Which parallelism the collectives look like, and how many there are. Names of kernels tell the kind of a collective, not the
-- group it runs in, so this is a guess from kinds and counts and says so.

local function count_of(kinds, kind)
  return sum(filter(kinds, function(row) return row.kind == kind end), "count")
end

-- What the comparison of ranks calls the parts, in words; the order is that of the words.
local function spelled_out(name)
  local words = {
    { "zero-3", "fully sharded data parallelism (FSDP, ZeRO-3)" },
    { "zero-2", "data parallelism with sharded gradients (ZeRO-2), or tensor with sequence parallelism" },
    { "zero-1", "data parallelism with a sharded optimizer (ZeRO-1)" },
    { "ddp", "replicated data parallelism (DDP)" },
    { "tensor", "tensor parallelism" },
    { "pipeline", "pipeline parallelism" },
    { "context", "context or sequence parallelism (exchanges blocks of the sequence)" },
    { "expert", "expert parallelism (exchanges tokens)" },
    { "embedding", "embedding tables split across ranks" },
    { "exchange", "an exchange among all ranks (all-to-all)" },
  }
  local found = {}
  for _, pair in ipairs(words) do
    if contains(name, pair[1]) then table.insert(found, pair[2]) end
  end
  return table.concat(found, ", together with ")
end

-- The kinds by time, as "allgather, reducescatter".
local function listed(rows)
  local names = { allreduce = "all-reduce", allgather = "all-gather", reducescatter = "reduce-scatter", alltoall = "all-to-all",
                  sendrecv = "send and receive" }
  local texts = {}
  for _, row in ipairs(rows) do
    table.insert(texts, row.kind == "" and "of unknown kind" or names[row.kind] or row.kind)
  end
  return table.concat(texts, ", ")
end

return {
  id        = "comm/strategy",
  title     = "Check that this parallelism fits the model",
  status    = "stable",
  since     = "0.1",
  kind      = "info",
  knowledge = { "K-K1", "K-K2", "K-K3", "K-K4", "K-K5", "K-K6", "K-K7", "K-K8", "K-J7", "K-J8", "K-N9", "K-L10" },
  effort    = "design",

  needs      = { "comm.count", "comm.per_step", "comm.kinds" },
  optional   = { "strategy.name", "strategy.evidence", "ranges.all_to_all.count", "run.kind", "run.framework", "run.languages" },
  thresholds = { "min_count", "gathers_per_scatter" },

  symptom = "The collectives look like {strategy:text}. Collectives on each GPU: {per_step:count} {per:text} ({kinds:text}){evidence:text}.",
  cause   = "All-reduces alone usually mean replicated models, or tensor parallelism where several run per layer. All-gathers with reduce-scatters mean sharded models. Sends and all-to-alls pass activations between GPUs.",
  fixes   = {
    { action = "If the model fits on one GPU, use plain data parallelism: it communicates least, one all-reduce of the gradients per step" },
    { action = "If it does not fit, shard no more than memory requires: ZeRO-1 or ZeRO-2 before ZeRO-3, and tensor parallelism only inside a node" },
  },
  false_positives = "Mixtures of several strategies. Only the most visible one is named.",
  references = { "pytorch/ddp-design", "pytorch/fsdp", "deepspeed/zero", "megatron/parallelism", "nccl/collectives" },

  applies = function(f)
    -- Norms, dot products and borders of a solver in CUDA C++ or Fortran: it has no layers, batches or gradients to divide.
    local solves = f.run.kind == "solver" and (f.run.framework or "") == ""
    -- Of several reports only the languages are known.
    if not f.run.kind then solves = f.run.languages and not contains(f.run.languages, "Python") end
    if solves then return false, "nothing shows that a model is trained or served" end
    return f.comm.count > 0, "no communication kernels ran"
  end,

  detect = function(f, t)
    if not at_least(f.comm.count, t.min_count) then return nil end
    local kinds = f.comm.kinds
    local reduces, gathers = count_of(kinds, "allreduce"), count_of(kinds, "allgather")
    local scatters, sends = count_of(kinds, "reducescatter"), count_of(kinds, "sendrecv")
    local exchanges = count_of(kinds, "alltoall")
    local found = {}
    if scatters > 0 and gathers > 0 then
      if at_least(share(gathers, scatters), t.gathers_per_scatter) then
        table.insert(found, "fully sharded data parallelism (FSDP, ZeRO-3)")
      else
        table.insert(found, "data parallelism with sharded gradients or optimizer (ZeRO-1, ZeRO-2), or tensor with sequence parallelism")
      end
    elseif gathers > 0 then
      table.insert(found, "sharded parameters in a forward pass, or gathered results")
    elseif reduces > 0 and f.run.kind == "inference" then
      -- Without a backward pass there are no gradients to sum up.
      table.insert(found, "tensor parallelism, or results that are summed over all ranks")
    elseif reduces > 0 then
      table.insert(found, "data parallelism (DDP), or tensor parallelism if there are several per layer")
    end
    -- NCCL makes an exchange among all ranks of sends: what the program asked for is in its ranges.
    local asked = (f.ranges.all_to_all.count or 0) > 0
    if sends > 0 and asked then exchanges, sends = exchanges + sends, 0 end
    if exchanges > 0 then table.insert(found, "expert or sequence parallelism, or embedding tables split across ranks (all-to-all)") end
    if sends > 0 then table.insert(found, "pipeline parallelism, or an all-to-all made of sends") end
    local evidence = ""
    -- Groups and phases tell more than counts of kinds.
    if f.strategy.name and f.strategy.name ~= "" then
      found = { spelled_out(f.strategy.name) }
      if f.strategy.name == "pipeline" and contains(f.strategy.evidence, "chains of 2 ranks") then
        found = asked and { "expert or sequence parallelism (all-to-all)" } or { "pipeline parallelism, or an exchange of two ranks (all-to-all)" }
      end
      evidence = ". Inferred from " .. f.strategy.evidence
    end
    if #found == 0 then return nil end
    local rows = top(kinds, "time", 8)
    return { strategy = table.concat(found, "; also "), evidence = evidence, per_step = math.floor(f.comm.per_step + 0.5), kinds = listed(rows), rows = rows }
  end,

  tests = {
    { name = "two gathers for each reduce-scatter: FSDP",
      edges = { ["comm.count"] = 4, ["comm.kinds[1].count"] = 150 },
      facts = { comm = { count = 300, per_step = 60, kinds = { { kind = "allgather", count = 200, time = 3e8, exposed = 1e8 },
                                                               { kind = "reducescatter", count = 100, time = 2e8, exposed = 1e8 } } } },
      expect = { strategy = "fully sharded data parallelism (FSDP, ZeRO-3)", per_step = 60,
                 kinds = "all-gather, reduce-scatter", rows = 2 } },
    { name = "ranks compared: tensor and data parallelism together",
      facts = { strategy = { name = "tensor + ddp", evidence = "64 all-reduces a step in the forward pass among 2 ranks" },
                comm = { count = 300, per_step = 60, kinds = { { kind = "allreduce", count = 300, time = 3e8, exposed = 1e8 } } } },
      expect = { strategy = "replicated data parallelism (DDP), together with tensor parallelism",
                 evidence = ". Inferred from 64 all-reduces a step in the forward pass among 2 ranks" } },
    { name = "as many gathers as scatters: ZeRO-2",
      facts = { comm = { count = 200, per_step = 40, kinds = { { kind = "allgather", count = 100, time = 1e8, exposed = 1e8 },
                                                               { kind = "reducescatter", count = 100, time = 2e8, exposed = 1e8 } } } },
      expect = { strategy = "data parallelism with sharded gradients or optimizer (ZeRO-1, ZeRO-2), or tensor with sequence parallelism",
                 kinds = "reduce-scatter, all-gather" } },
    { name = "all-reduces and sends: data and pipeline parallelism",
      facts = { comm = { count = 90, per_step = 45, kinds = { { kind = "sendrecv", count = 64, time = 3e8, exposed = 1e8 },
                                                              { kind = "allreduce", count = 26, time = 2e8, exposed = 1e8 } } } },
      expect = { strategy = "data parallelism (DDP), or tensor parallelism if there are several per layer; also pipeline parallelism, " ..
                            "or an all-to-all made of sends" } },
    { name = "all-reduces of a forward pass sum up no gradients",
      facts = { run = { kind = "inference" },
                comm = { count = 512, per_step = 64, kinds = { { kind = "allreduce", count = 512, time = 3e7, exposed = 3e7 } } } },
      expect = { strategy = "tensor parallelism, or results that are summed over all ranks" } },
    { name = "near miss: a solver sums up norms",
      facts = { run = { kind = "solver" },
                comm = { count = 512, per_step = 64, kinds = { { kind = "allreduce", count = 512, time = 3e7, exposed = 3e7 } } } },
      expect = "not_applicable" },
    { name = "near miss: ranks of a solver sum up norms",
      facts = { run = { languages = "MPI, CUDA C++" }, strategy = { name = "tensor + ddp", evidence = "20 all-reduces per step" },
                comm = { count = 512, per_step = 64, kinds = { { kind = "allreduce", count = 512, time = 3e7, exposed = 3e7 } } } },
      expect = "not_applicable" },
    { name = "a loop of a framework that models are written in may train",
      facts = { run = { kind = "solver", framework = "JAX" },
                comm = { count = 512, per_step = 64, kinds = { { kind = "allreduce", count = 512, time = 3e7, exposed = 3e7 } } } },
      expect = { strategy = "data parallelism (DDP), or tensor parallelism if there are several per layer" } },
    { name = "ranges say that the sends are an exchange among all ranks",
      facts = { ranges = { all_to_all = { count = 5 } },
                comm = { count = 8, per_step = 8, kinds = { { kind = "sendrecv", count = 5, time = 3e6, exposed = 1e6 },
                                                            { kind = "allreduce", count = 3, time = 2e6, exposed = 1e6 } } } },
      expect = { strategy = "data parallelism (DDP), or tensor parallelism if there are several per layer; also expert or sequence " ..
                            "parallelism, or embedding tables split across ranks (all-to-all)" } },
    { name = "two ranks that send to each other may exchange, too",
      facts = { strategy = { name = "pipeline", evidence = "33 sends and receives in the window along chains of 2 ranks" },
                comm = { count = 66, per_step = 33, kinds = { { kind = "sendrecv", count = 66, time = 3e8, exposed = 1e8 } } } },
      expect = { strategy = "pipeline parallelism, or an exchange of two ranks (all-to-all)" } },
    { name = "near miss: a broadcast and a barrier at the start",
      facts = { comm = { count = 2, per_step = 2, kinds = { { kind = "broadcast", count = 1, time = 1e5, exposed = 1e5 },
                                                            { kind = "allreduce", count = 1, time = 1e5, exposed = 1e5 } } } },
      expect = "silent" },
    { name = "one GPU", facts = { comm = { count = 0, per_step = 0, kinds = {} } }, expect = "not_applicable" },
    { name = "kernels were not recorded", facts = {}, expect = "cannot_tell" },
  },
}
