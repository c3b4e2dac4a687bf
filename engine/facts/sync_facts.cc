// sync.*: the host waits for the GPU.
#include "engine/facts/declare.h"

namespace advise::facts {

namespace {

// Streams that wait, rather than the host.
void DeclareStreamWaits(Catalog* catalog) {
  auto& syncs = catalog->Of(&Analysis::syncs);
  syncs.AddLoss("sync.host_function", kOfGaps,
                {"functions that a stream runs on the host while its GPU is idle",
                 "Idle time in which a stream waits for a function that it runs on the host.",
                 "Streams run no functions on the host."},
                &Syncs::host_function);
  syncs.AddLoss(
      "sync.event_chain", kOfGaps,
      {"waits of one stream for another after which the streams never overlap",
       "Work of the shorter streams of an event chain that could overlap with the longest "
       "one.",
       "Streams that take turns overlap."},
      &Syncs::event_chain);
  syncs.Add("sync.event_chain.streams", "count", "Streams that take turns by events.",
            &Syncs::chain_streams);
}

void DeclareForwardWaits(Catalog* catalog) {
  auto& syncs = catalog->Of(&Analysis::syncs);
  syncs.AddLoss("sync.forward", kOfGaps,
                {"waits of the host (of sync.loop or sync.item) inside forward ranges",
                 "Idle and exposed time that waits inside forward ranges cause.",
                 "Calls inside forward ranges do not wait."},
                &Syncs::forward);
  syncs.Add("sync.forward.reads", "share",
            "Share of the waits inside forward ranges that read or send a value. The others only "
            "wait.",
            &Syncs::forward_reads);
}

void DeclareStepResults(Catalog* catalog) {
  auto& results = catalog->Of(&Analysis::results);
  results.AddLoss("sync.results", kOfCopies,
                  {"copies to the host that it waits for before it queues the next step, whose "
                   "input others load",
                   "Exposed and idle time from the wait for the results of a step until the host "
                   "is ahead again.",
                   "The host reads the results of a step while the GPU computes the next one."},
                  &StepResults::loss);
}

}  // namespace

void DeclareSyncFacts(Catalog* catalog) {
  auto& syncs = catalog->Of(&Analysis::syncs);
  syncs.Add("sync.count", "count",
            "Synchronizing calls of the steady loop (of the window when no steps were found).",
            &Syncs::count);
  syncs.Add("sync.time", "ns",
            "Time that launching threads spend in synchronizing calls of the steady loop.",
            &Syncs::time_ns);
  syncs.AddLoss("sync.loop", kOfGaps,
                {"device, stream and event synchronizations that are not part of a tiny read-back",
                 "Idle time after synchronizations of the loop until the host is ahead again.",
                 "Synchronizations of the loop do not wait."},
                &Syncs::loop);
  syncs.Add("sync.loop.code", "ns",
            "Idle time after synchronizations of the loop in which the launching thread runs code "
            "of its own for long that may read a result of the GPU.",
            &Syncs::loop_code_ns);
  syncs.Add("sync.loop.free_code", "ns",
            "Idle time after synchronizations of the loop in which the launching thread runs code "
            "of its own for long, where nothing was copied to the host since its last wait and it "
            "shares no memory with the GPU.",
            &Syncs::loop_free_code_ns);
  syncs.Add("sync.loop.with_code", "share",
            "Share of the synchronizations of the loop after which the launching thread runs code "
            "of its own for long that may read a result, while the GPU is idle.",
            &Syncs::loop_with_code);
  syncs.Add("sync.loop.name", "name", "The synchronizing call that costs most.", &Syncs::loop_name);
  syncs.Add("sync.loop.directive", "name",
            "The directive of OpenACC that holds most of the time of synchronizations of the loop.",
            UnlessEmpty(&Syncs::loop_directive, "no directive holds these calls", ""));
  syncs.AddLoss("sync.item", kOfGaps,
                {"tiny copies between device and host that the host waits for",
                 "Exposed and idle time from the wait for a tiny copy until the host is ahead "
                 "again.",
                 "The host does not wait for tiny copies."},
                &Syncs::item);
  syncs.Add("sync.item.code", "ns",
            "Idle time after waits for tiny copies in which the launching thread runs code of its "
            "own for long.",
            &Syncs::item_code_ns);
  syncs.Add("sync.item.median_bytes", "bytes",
            "Median size of the tiny copies that the host waits for.", &Syncs::item_median_bytes);
  syncs.Add("sync.item.most_bytes", "bytes",
            "Size of the largest of the tiny copies that the host waits for.",
            &Syncs::item_most_bytes);
  syncs.Add("sync.item.direction", "name",
            "Direction of the tiny copies that the host waits for: d2h, h2d or both.",
            &Syncs::item_direction);
  syncs.Add("sync.item.sized", "count",
            "Tiny copies that the host waits for beside a kernel whose result has a size that "
            "depends on the data: they tell this size.",
            &Syncs::item_sized);
  syncs.Add("sync.item.kernel", "name",
            "Kernel that most often ran last before a tiny copy for which the host waits.",
            UnlessEmpty(&Syncs::item_kernel, "no kernel ran before these copies", ""));
  syncs.AddLoss("sync.optimizer", kOfGaps,
                {"waits of the host in optimizer ranges of the loop",
                 "Idle time after waits in optimizer ranges until the host is ahead again.",
                 "Calls in optimizer ranges do not wait."},
                &Syncs::optimizer);
  syncs.AddLoss("sync.backward", kOfGaps,
                {"waits of the host in backward ranges of the loop",
                 "Idle time after waits in backward ranges until the host is ahead again.",
                 "Calls in backward ranges do not wait."},
                &Syncs::backward);
  syncs.Add("sync.default_stream.kernels", "count",
            "Kernels on the legacy default stream while other streams are in use.",
            In(&Syncs::default_stream, &Loss::count));
  syncs.Add("sync.default_stream.share", "share",
            "Share of the compute time in kernels on the legacy default stream while other "
            "streams are in use.",
            &Syncs::default_share);
  syncs.Add("sync.default_stream.other_streams", "count",
            "Other (blocking) streams with kernels of the process that uses the legacy default "
            "stream.",
            &Syncs::other_streams);
  syncs.AddLoss("sync.default_stream", kChange,
                {"",
                 "Compute time of kernels that the legacy default stream makes wait for each "
                 "other although each leaves room for the other.",
                 "Kernels on the legacy default stream overlap with those of other streams."},
                &Syncs::default_stream);
  syncs.AddLoss("sync.memset", kOfGaps,
                {"memset calls that block the host",
                 "Idle and exposed time that memset calls cause by blocking the host.",
                 "Memset calls do not block the host."},
                &Syncs::memset);
  syncs.Add("sync.busy_wait.time", "ns",
            "Time that launching threads spend in synchronizing calls while their device does not "
            "compute.",
            &Syncs::busy_wait_ns);
  DeclareStreamWaits(catalog);
  DeclareForwardWaits(catalog);
  DeclareStepResults(catalog);
}

}  // namespace advise::facts
