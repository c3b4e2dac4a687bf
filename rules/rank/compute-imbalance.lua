-- Ranks compute for different times, now this one longer, now that one: uneven batches or uneven shares of the model.
-- Of GPUs of one process that exchange nothing by kernels, it may be always the same one: no other rule sees who waits.
return {
  id        = "rank/compute-imbalance",
  title     = "Give all GPUs equal work in each step",
  status    = "stable",
  since     = "0.2",
  kind      = "root",
  priority  = 77,
  explains  = { "comm/exposed", "comm/full-link", "comm/mpi-imbalance", "step/jitter", "step/outlier" },
  knowledge = { "K-I3", "K-I5" },
  effort    = "code",

  loss       = "rank.imbalance.compute",
  evidence   = { "steps", "spread", top = "top_rank" },
  needs      = { "cluster.ranks" },
  optional   = { "rank.imbalance.compute.remedy", "rank.imbalance.compute.behind", "rank.imbalance.compute.in_turn", "run.languages",
                 "rank.late.device", "rank.late.cause",
                 "rank.turns.together", "rank.turns.devices", "rank.turns.busiest", "rank.turns.named", "rank.turns.alike", "rank.turns.slower" },
  thresholds = { "max_steady", "min_share", "usual_spread", "min_together", "mostly_in_turn", "mostly_alike", "hardly_alike", "min_slower" },

  symptom = "In {steps:pct} of the steps, one {who:text} computes longer than the others, {which:text}. The slowest is {spread:pct} of a step behind the median, and these delays add up to {share:pct} of the time.",
  cause   = "{why:text}",
  fixes   = {
    { reason = "more", action = "Give that GPU less to do: move a part of its work to the others" },
    { reason = "more", action = "Do not let requests for one kind of work wait for the other", ["for"] = { "inference" } },
    { reason = "slower", action = "Compare the clocks, the temperature and the processes of that GPU with those of the others",
      snippet = "nvidia-smi --query-gpu=index,clocks.sm,temperature.gpu,clocks_event_reasons.active --format=csv -l 1",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "slower", action = "Until it is as fast, give it less of the work, or let all GPUs take their work from one queue" },
    { reason = "same", action = "If all GPUs got the same work, compare clocks, temperature and other processes of the slow one with the others",
      snippet = "nvidia-smi --query-gpu=index,clocks.sm,temperature.gpu,clocks_event_reasons.active --format=csv -l 1",
      language = "bash", ["for"] = { "nvidia" } },
    { reason = "same", action = "Give each GPU work in proportion to its speed, or let all of them take their work from one queue" },
    { reason = "ranks", action = "Bucket samples by length, so that all ranks get similar batches in the same step", ["for"] = { "python" } },
    { reason = "ranks", action = "Fill batches by tokens instead of by samples, or pack several short sequences into one", ["for"] = { "python" } },
    { reason = "ranks", action = "Divide the problem by cost, not by cells, and move work between ranks when costs change", ["for"] = { "c++", "fortran", "openacc", "mpi" } },
    { reason = "ranks", action = "With experts, limit the tokens per expert and balance the router",
      snippet = "aux_loss = load_balancing_loss(router_logits)   # and a capacity factor near 1", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "GPUs of different models, or clocks that change during the run.",
  references = { "pytorch/ddp", "nccl/collectives" },

  applies = function(f) return f.cluster.ranks > 1, "only one rank was recorded" end,

  -- A rank that is behind in each step by about as much is a straggler, where somebody waits for it in collectives or
  -- messages. GPUs of one process that work at the same time wait for each other on the host.
  detect = function(f, t, e)
    local of_them = " " .. in_words(e.top, "pct") .. " of them"
    e.who, e.which, e.reason = "rank", "not always the same one: none in more than" .. of_them, "ranks"
    local in_turn = at_least(f.rank.imbalance.compute.in_turn or 0, t.mostly_in_turn)
    if in_turn then e.which = "another one before each collective: none in more than" .. of_them end
    if not in_turn and not at_most(f.rank.imbalance.compute.behind or 1, t.max_steady) then
      local turns = f.rank.turns
      if f.rank.late.device or not at_least(turns.together or 0, t.min_together) then return nil end
      if not at_least(e.top, t.max_steady) then return nil end   -- now one, now the other: they only begin and end at different times
      e.who, e.which, e.reason = "GPU", e.top >= 1 and "always the same one" or "mostly the same one: in" .. of_them, "same"
      e.why = "It gets more work than the others, or it computes more slowly."
      local gpu = turns.busiest and "GPU " .. math.floor(turns.busiest)
      local slower = turns.slower
      local named = math.max(turns.named or 0, turns.alike or 0)
      if gpu and at_most(named, t.hardly_alike) then
        e.reason, e.why = "more", gpu .. " has the most to do, and the other GPUs run other kernels."
      elseif gpu and slower and at_least(turns.alike or 0, t.mostly_alike) then
        e.reason, e.why = "more", gpu .. " gets more work than the others: more of the same kernels."
        if at_least(slower, t.min_slower) then   -- else it has more to do
          e.reason, e.why = "slower", gpu .. " takes " .. in_words(slower, "num") .. " times as long as the others for the same kernels in equal grids: it is slow, or shared."
        end
      elseif gpu and at_least(named, t.mostly_alike) then
        e.reason, e.why = "more", gpu .. " gets more work than the others: it runs the same kernels in other sizes."
      elseif gpu then
        e.reason, e.why = "more", gpu .. " also runs kernels that the others do not run."
      end
      e.why = e.why .. " The others wait on the host until it is done."
      return e
    end
    -- Stages of a pipeline in one process compute for micro-batches in turn. Nothing shows that they wait for each other.
    local devices = f.rank.turns.devices
    if devices and devices > 1 and not f.rank.late.device then return nil end
    if in_turn then
      e.why = "Between two collectives of a step the ranks get different amounts of work, as experts with different numbers of tokens do. Each collective waits for the rank that has most."
      return e
    end
    if not at_least(e.spread, t.usual_spread) then return nil end   -- equal work: the slowest of several ranks by chance
    if contains(f.rank.late.cause or "", "same kernels") then
      e.reason = "same"
      e.why = "The ranks run the same kernels in grids of the same size, but on some GPUs these take longer: lower clocks, heat, or another process."
      return e
    end
    local languages = f.run.languages
    e.why = "The ranks get different amounts of work: batches of different length, experts with different numbers of tokens, or parts of a problem that cost more than others."
    if languages and contains(languages, "Python") then
      e.why = "Batches contain different amounts of work on different ranks: sequences of different length, or experts that get different numbers of tokens."
    elseif languages then
      e.why = "The parts of the problem cost different amounts of work, and not always on the same rank: particles, cells or iterations move between ranks."
    end
    return e
  end,

  saving = { confidence = 0.6, basis = "the ranks share the work equally" },

  tests = {
    { name = "sequences of different length on 8 ranks",
      edges = { ["rank.imbalance.compute.lost"] = 1.6e8, ["rank.imbalance.compute.spread"] = 0.05 },
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 },
                rank = { imbalance = { compute = { spread = 0.15, steps = 0.9, top_rank = 0.2, behind = 0, lost = 8e8, remedy = true } } } },
      expect = { share = 0.1, steps = 0.9, top = 0.2, spread = 0.15 }, saving = { claims = 8e8 } },
    { name = "near miss: kernels of equal work that vary by chance",
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 },
                rank = { imbalance = { compute = { spread = 0.03, steps = 1, top_rank = 0.17, behind = 0, lost = 2e8, remedy = true } } } },
      expect = "silent" },
    { name = "experts with different numbers of tokens, other ones in each layer",
      edges = { ["rank.imbalance.compute.in_turn"] = 0.5 },
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 }, rank = { late = { device = 3 },
                imbalance = { compute = { spread = 0.05, steps = 1, top_rank = 0.2, behind = 0.9, in_turn = 0.8, lost = 8e8, remedy = true } } } },
      expect = { which = "another one before each collective: none in more than 20 % of them" } },
    { name = "a solver has no batches",
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 }, run = { languages = "MPI, CUDA C++" },
                rank = { imbalance = { compute = { spread = 0.15, steps = 0.9, top_rank = 0.2, behind = 0, lost = 8e8, remedy = true } } } },
      expect = { why = "The parts of the problem cost different amounts of work, and not always on the same rank: particles, cells or iterations move between ranks." } },
    { name = "of two ranks one has the longer batches more often, by chance",
      facts = { window = { device_time = 6e9 }, cluster = { ranks = 2 },
                rank = { imbalance = { compute = { spread = 0.57, steps = 1, top_rank = 0.77, behind = 0.55, lost = 1.7e9, remedy = true } } } },
      expect = { top = 0.77 } },
    { name = "two of four GPUs run the same kernels more slowly",
      facts = { window = { device_time = 1.7e9 }, cluster = { ranks = 4 }, run = { languages = "Python" },
                rank = { late = { device = 2, cause = "the same kernels run more slowly there" },
                         imbalance = { compute = { spread = 0.22, steps = 1, top_rank = 0.5, behind = 0.07, lost = 1.9e8, remedy = true } } } },
      expect = { reason = "same", why = "The ranks run the same kernels in grids of the same size, but on some GPUs these take longer: lower clocks, heat, or another process." } },
    { name = "near miss: always the same rank, which is a straggler",
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 },
                rank = { late = { device = 3 }, turns = { together = 0.95 },
                         imbalance = { compute = { spread = 0.3, steps = 1, top_rank = 1, behind = 1, lost = 8e8, remedy = true } } } },
      expect = "silent" },
    { name = "of two GPUs of a process the other one waits in each step",
      edges = { ["rank.turns.together"] = 0.8, ["rank.imbalance.compute.top_rank"] = 0.75 },
      facts = { window = { device_time = 8e7 }, cluster = { ranks = 2 },
                rank = { turns = { together = 0.98 },
                         imbalance = { compute = { spread = 0.5, steps = 1, top_rank = 1, behind = 1, lost = 2e7 } } } },
      expect = { who = "GPU", reason = "same", share = 0.25 } },
    { name = "the same kernels take longer on one of four GPUs of a process",
      edges = { ["rank.turns.alike"] = 0.8 },
      facts = { window = { device_time = 8e7 }, cluster = { ranks = 4 },
                rank = { turns = { together = 0.98, busiest = 3, alike = 1, slower = 1.8 },
                         imbalance = { compute = { spread = 0.5, steps = 1, top_rank = 1, behind = 1, lost = 2e7 } } } },
      expect = { reason = "slower", why = "GPU 3 takes 1.8 times as long as the others for the same kernels in equal grids: it is slow, or shared. The others wait on the host until it is done." } },
    { name = "the same kernels take a little longer on one GPU",
      edges = { ["rank.turns.slower"] = 1.1 },
      facts = { window = { device_time = 8e7 }, cluster = { ranks = 4 },
                rank = { turns = { together = 0.98, busiest = 3, alike = 1, slower = 1.155 },
                         imbalance = { compute = { spread = 0.5, steps = 1, top_rank = 1, behind = 1, lost = 2e7 } } } },
      expect = { reason = "slower" } },
    { name = "near miss of a slow GPU: one has more of the same work",
      facts = { window = { device_time = 8e7 }, cluster = { ranks = 2 },
                rank = { turns = { together = 0.98, busiest = 0, alike = 1, slower = 1 },
                         imbalance = { compute = { spread = 0.5, steps = 1, top_rank = 1, behind = 1, lost = 2e7 } } } },
      expect = { reason = "more", why = "GPU 0 gets more work than the others: more of the same kernels. The others wait on the host until it is done." } },
    { name = "one of four GPUs gets the larger part of a grid in each step",
      edges = { ["rank.turns.named"] = 0.8 },
      facts = { window = { device_time = 8e7 }, cluster = { ranks = 4 },
                rank = { turns = { together = 0.98, busiest = 1, named = 1, alike = 0 },
                         imbalance = { compute = { spread = 0.28, steps = 1, top_rank = 1, behind = 1, lost = 2e7 } } } },
      expect = { reason = "more", which = "always the same one",
                 why = "GPU 1 gets more work than the others: it runs the same kernels in other sizes. The others wait on the host until it is done." } },
    { name = "two models on two GPUs of a process",
      edges = { ["rank.turns.alike"] = 0.2 },
      facts = { window = { device_time = 8e7 }, cluster = { ranks = 2 },
                rank = { turns = { together = 0.98, busiest = 1, alike = 0 },
                         imbalance = { compute = { spread = 0.5, steps = 1, top_rank = 1, behind = 1, lost = 2e7 } } } },
      expect = { reason = "more", why = "GPU 1 has the most to do, and the other GPUs run other kernels. The others wait on the host until it is done." } },
    { name = "near miss: two equal GPUs, of which one begins and ends later",
      facts = { cluster = { ranks = 2 }, window = { device_time = 4e9 },
                rank = { turns = { together = 0.9 },
                         imbalance = { compute = { spread = 0.1, steps = 1, top_rank = 0.59, behind = 0.9, lost = 2e8 } } } },
      expect = "silent" },
    { name = "near miss: two stages in one process, which work on micro-batches in turn",
      facts = { window = { device_time = 2.5e9 }, cluster = { ranks = 2 },
                rank = { turns = { devices = 2, together = 0.75 },
                         imbalance = { compute = { spread = 0.2, steps = 1, top_rank = 0.55, behind = 0.5, lost = 2.5e8, remedy = true } } } },
      expect = "silent" },
    { name = "one process for two GPUs that meet in collectives",
      facts = { window = { device_time = 2.5e9 }, cluster = { ranks = 2 },
                rank = { turns = { devices = 2, together = 0.75 }, late = { device = 0 },
                         imbalance = { compute = { spread = 0.2, steps = 1, top_rank = 0.55, behind = 0.5, lost = 2.5e8, remedy = true } } } },
      expect = { top = 0.55 } },
    { name = "near miss: two GPUs that take turns, one of them for longer",
      facts = { window = { device_time = 8e7 }, cluster = { ranks = 2 },
                rank = { turns = { together = 0.07 },
                         imbalance = { compute = { spread = 0.5, steps = 1, top_rank = 1, behind = 1, lost = 2e7 } } } },
      expect = "silent" },
    { name = "near miss: the usual small differences",
      facts = { window = { device_time = 8e9 }, cluster = { ranks = 8 },
                rank = { imbalance = { compute = { spread = 0.01, steps = 0.6, top_rank = 0.2, behind = 0, lost = 6e7, remedy = true } } } },
      expect = "silent" },
    { name = "one rank", facts = { cluster = { ranks = 1 } }, expect = "not_applicable" },
    { name = "no steps to compare in", facts = { window = { device_time = 4e9 }, cluster = { ranks = 4 } }, expect = "cannot_tell" },
  },
}
