-- NCCL's log lists thousands of collectives that carry a few bytes: each takes as long as an empty one.
return {
  id        = "topology/small-calls",
  title     = "Merge small collectives: each takes as long as an empty one",
  status    = "experimental",
  since     = "0.2",
  kind      = "root",
  priority  = 40,
  knowledge = { "K-J8" },
  effort    = "code",
  observed  = "recorded",

  needs      = { "nccl.calls" },
  thresholds = { "max_bytes", "min_count" },

  symptom = "NCCL's log lists {count:count} calls of {operation:text}, of {bytes:bytes} on average.",
  cause   = "Such a call costs its latency, some 10 µs in a node and more between nodes, whatever it carries. All ranks wait for each other in it.",
  fixes   = {
    { action = "Put values together, and communicate once: stack the numbers that are summed or logged",
      snippet = "values = torch.stack([score, correct])\ndist.all_reduce(values)", language = "python", ["for"] = { "pytorch", "training" } },
    { action = "Communicate such values only every N steps" },
    { action = "Start them without waiting, and read the result later", snippet = "work = dist.all_reduce(values, async_op=True)\n...\nwork.wait()      # before the values are read", language = "python", ["for"] = { "pytorch" } },
  },
  false_positives = "A log of several ranks in one file, which lists each call once per rank.",
  references = { "nccl/collectives" },

  applies = function(f) return #f.nccl.calls > 0, "no log of NCCL lists calls (NCCL_DEBUG_SUBSYS=COLL)" end,

  detect = function(f, t)
    -- Each row holds calls of about one size: those of one operation belong together, as far as they are small.
    local of_operation, sums = {}, {}
    for _, row in ipairs(filter(f.nccl.calls, function(one) return at_most(share(one.bytes, one.count), t.max_bytes) end)) do
      local sum = of_operation[row.operation]
      if not sum then
        sum = { operation = row.operation, count = 0, bytes = 0 }
        of_operation[row.operation] = sum
        table.insert(sums, sum)
      end
      sum.count, sum.bytes = sum.count + row.count, sum.bytes + row.bytes
    end
    local small = filter(sums, function(sum) return at_least(sum.count, t.min_count) end)
    if #small == 0 then return nil end
    local most = top(small, "count", 1)[1]
    return { operation = most.operation, count = most.count, bytes = share(most.bytes, most.count) }
  end,

  tests = {
    { name = "3,000 sums of one number", edges = { ["nccl.calls[1].count"] = 500 },
      facts = { nccl = { calls = { { operation = "AllReduce", count = 3000, bytes = 12000 } } } }, expect = { operation = "AllReduce", count = 3000, bytes = 4 } },
    { name = "up to some 32 KiB", edges = { ["nccl.calls[1].bytes"] = 3.2768e7 },
      facts = { nccl = { calls = { { operation = "AllGather", count = 1000, bytes = 2e7 } } } }, expect = { operation = "AllGather", bytes = 20000 } },
    { name = "small ones of two sizes among buckets", edges = { ["nccl.calls[1].count"] = 300 },
      facts = { nccl = { calls = { { operation = "AllReduce", count = 400, bytes = 1600 }, { operation = "AllReduce", count = 200, bytes = 12800 }, { operation = "AllReduce", count = 900, bytes = 8e9 } } } },
      expect = { operation = "AllReduce", count = 600, bytes = 24 } },
    { name = "near miss: buckets", facts = { nccl = { calls = { { operation = "AllReduce", count = 3000, bytes = 7.5e10 } } } }, expect = "silent" },
    { name = "near miss: a few at the start", facts = { nccl = { calls = { { operation = "AllReduce", count = 12, bytes = 48 } } } }, expect = "silent" },
    { name = "calls are not listed", facts = { nccl = { calls = {} } }, expect = "not_applicable" },
  },
}
