// copy.*, memset.*: what moves and sets bytes.
#include <algorithm>

#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

struct Sum {
  double count = 0, bytes = 0, time = 0;
  void Add(const CopyGroup& g) {
    count += static_cast<double>(g.count);
    bytes += g.bytes;
    time += g.time_ns;
  }
};
struct Sums {
  Sum all, h2d, d2h;
};

Sums SumByDirection(const Analysis& a) {
  Sums sums;
  for (const CopyGroup& g : a.copies.groups) {
    sums.all.Add(g);
    if (g.direction == "host to device") sums.h2d.Add(g);
    if (g.direction == "device to host") sums.d2h.Add(g);
  }
  return sums;
}

Rows GroupRows(const Copies& copies) {
  return RowsOf(copies.groups, [](const CopyGroup& g) {
    return Row{{"direction", g.direction},
               {"memory", g.memory},
               {"count", static_cast<double>(g.count)},
               {"bytes", g.bytes},
               {"time", g.time_ns},
               {"bandwidth", ShareOf(g.bytes, g.time_ns) * kNanosPerSecond},
               {"exposed", g.exposed_ns}};
  });
}

double TimePerDevice(const Analysis& a) {
  double time = 0;
  for (const DeviceTime& t : a.times) time += static_cast<double>(t.copy.Total());
  return time / static_cast<double>(std::max<std::size_t>(1, a.run.active_devices.size()));
}

std::vector<IntervalSet> Exposed(const Analysis& a) {
  std::vector<IntervalSet> exposed;
  for (const DeviceTime& t : a.times) exposed.push_back(t.copy_exposed);
  return exposed;
}

double RepeatedBytesPerStep(const Copies& c) {
  const auto count = static_cast<double>(std::max<std::int64_t>(1, c.repeated.count));
  return c.repeated.bytes / count * c.repeated.per_step;
}

double PerUpdate(const Copies& c, double sum) {
  return sum / static_cast<double>(std::max<std::int64_t>(1, c.offload.loss.count));
}

double GpuFaults(const Analysis& a) {
  double faults = 0;
  const auto& table = a.run.trace.faults;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.device[i] != kNone && a.basis().InWindow(table.start[i])) faults += table.count[i];
  }
  return faults;
}

void DeclareCopyTotals(Catalog* catalog) {
  auto& sums = catalog->Of(SumByDirection);
  sums.Add("copy.count", "count", "Number of copies in the window.", In(&Sums::all, &Sum::count));
  sums.Add("copy.bytes", "bytes", "Bytes of all copies in the window.",
           In(&Sums::all, &Sum::bytes));
  sums.Add("copy.h2d.count", "count", "Number of copies from host to device.",
           In(&Sums::h2d, &Sum::count));
  sums.Add("copy.h2d.bytes", "bytes", "Bytes copied from host to device.",
           In(&Sums::h2d, &Sum::bytes));
  sums.Add("copy.h2d.time", "ns", "Summed time of copies from host to device.",
           In(&Sums::h2d, &Sum::time));
  sums.Add("copy.d2h.count", "count", "Number of copies from device to host.",
           In(&Sums::d2h, &Sum::count));
  sums.Add("copy.d2h.bytes", "bytes", "Bytes copied from device to host.",
           In(&Sums::d2h, &Sum::bytes));
  sums.Add("copy.d2h.time", "ns", "Summed time of copies from device to host.",
           In(&Sums::d2h, &Sum::time));
  auto& all = catalog->OfAll();
  all.Add("copy.time", "ns", "Time in which at least one copy ran, mean over the devices.",
          TimePerDevice);
  all.Add("copy.exposed", "spans", "Time in which only copies ran on a device.", Exposed);
}

void DeclareKinds(Catalog* catalog) {
  auto& copies = catalog->Of(&Analysis::copies);
  copies.Add("copy.groups", "rows",
             "Copies by direction and memory kind: direction, memory, count, bytes, time, "
             "bandwidth, exposed.",
             GroupRows);
  copies.AddLoss(
      "copy.pageable", kOfCopies | kBandwidth,
      {"asynchronous copies from or to pageable host memory, small ones left out",
       "Exposed time of asynchronous pageable copies, and the idle time until the host is ahead "
       "again.",
       "Asynchronous pageable copies run at the pinned rate and do not block the host."},
      &Copies::pageable);
  copies.AddLoss(
      "copy.blocking", kOfCopies,
      {"copies by calls that block the host until the data has moved, tiny ones left out",
       "Exposed time of blocking copies, and the idle time until the host is ahead again.",
       "Blocking copies become asynchronous and pinned, and do not block the host."},
      &Copies::blocking);
  copies.Add("copy.blocking.pageable_share", "share",
             "Share of the bytes of blocking copies that lie in pageable memory.",
             UnlessNegative(&Copies::blocking_pageable_share,
                            "the profiler does not record the kind of memory", ""));
  copies.AddLoss(
      "copy.small", kOfCopies,
      {"small copies between host and device in series, several in a row in one direction",
       "Exposed time of small copies in series, and the idle time between them.",
       "One copy replaces each series of small copies."},
      &Copies::small);
  copies.Add("copy.small.median_bytes", "bytes", "Median size of the small copies in series.",
             &Copies::small_median_bytes);
  copies.AddLoss("copy.slow", kOfCopies | kBandwidth,
                 {"large pinned copies far slower than the link",
                  "Exposed time of large pinned copies far slower than the link.",
                  "Slow pinned copies run at the rate of the link."},
                 &Copies::slow);
  copies.AddLoss("copy.repeated", kOfCopies | kBandwidth,
                 {"uploads whose sizes come back in each step, where a batch does not explain so "
                  "many",
                  "Exposed time of uploads that come back in each step, and the idle time they "
                  "cause.",
                  "Uploads that come back in each step are gone."},
                 &Copies::repeated);
  copies.Add("copy.repeated.bytes_per_step", "bytes",
             "Bytes of uploads whose sizes come back in each step, per step.",
             RepeatedBytesPerStep);
  copies.Add("copy.repeated.memory", "name",
             "Host memory of the uploads that come back in each step: pinned, pageable or mixed.",
             &Copies::repeated_memory);
  copies.AddLoss("copy.roundtrip", kOfCopies,
                 {"downloads whose bytes are uploaded again soon after",
                  "Exposed time of both ways of round trips through the host, and the idle time "
                  "between.",
                  "Both copies of a round trip and the host work between them are gone."},
                 &Copies::roundtrip);
  copies.Add("copy.roundtrip.directive", "name",
             "The directive of OpenACC that brings most bytes of round trips back.",
             UnlessEmpty(&Copies::roundtrip_directive, "no directive holds these copies", ""));
  copies.Add("copy.roundtrip.by_directives", "flag",
             "Whether directives of the report hold the copies of round trips, or most kernels are "
             "loops of the source that a compiler of OpenACC or OpenMP made.",
             &Copies::roundtrip_by_directives);
  copies.Add("copy.roundtrip.activations", "share",
             "Share of round trips through the host whose data the backward pass takes back, and "
             "that began before it.",
             &Copies::roundtrip_activations);
  copies.AddLoss("copy.through_host", kOfCopies,
                 {"downloads from one device whose bytes are uploaded to another soon after",
                  "Exposed time of copies from device to device through the host.",
                  "One peer copy at twice the rate takes the place of two copies through the "
                  "host."},
                 &Copies::through_host);
  copies.AddLoss(
      "copy.serial", kOfCopies,
      {"pinned asynchronous copies on the stream of the kernels",
       "Exposed time of pinned asynchronous copies on the stream of the kernels.",
       "Copies on the stream of the kernels run on a separate stream and overlap with them."},
      &Copies::serial);
  copies.AddLoss("copy.separate", kChange,
                 {"", "Exposed time of pinned asynchronous copies on streams without kernels.",
                  "Copies that already run beside the kernels are gone."},
                 &Copies::separate);
  copies.AddLoss("copy.migration", kOfCopies,
                 {"page faults that migrate unified memory",
                  "Exposed time of migrations that the program does not prefetch, and kernel time "
                  "with such a migration inside.",
                  "Data of unified memory is in place before it is used."},
                 &Copies::migration);
  catalog->OfAll().Add("copy.migration.gpu_faults", "count",
                       "GPU page faults on unified memory; absent when not captured.",
                       If([](const Analysis& a) { return a.run.trace.faults.size() > 0; },
                          GpuFaults, "page faults were not recorded", "um-faults"));
}

// Updates of weights on the host.
void DeclareOffload(Catalog* catalog) {
  auto& copies = catalog->Of(&Analysis::copies);
  copies.AddLoss(
      "copy.offload", kCount | kPerStep | kChange,
      {"updates of weights on the host: gradients go down in the backward pass, and as many bytes, "
       "or half or twice as many, come back before the next one",
       "Exposed time of gradients on their way to the host and of weights on their way back, and "
       "the idle time between.",
       "The GPU updates the weights: the copies and the host work between them are gone."},
      [](const Copies& c) -> const Loss& { return c.offload.loss; });
  copies.Add("copy.offload.down", "bytes",
             "Gradients that go to the host for an update of the weights there.",
             [](const Copies& c) { return PerUpdate(c, c.offload.loss.bytes); });
  copies.Add("copy.offload.up", "bytes",
             "Weights that come back from an update on the host, with the batch.",
             [](const Copies& c) { return PerUpdate(c, c.offload.up_bytes); });
  copies.Add("copy.offload.host_time", "ns",
             "Time from the last gradient on the host to the first weight that goes back.",
             [](const Copies& c) { return PerUpdate(c, c.offload.host_time); });
}

// What nothing runs beside.
void DeclareMoves(Catalog* catalog) {
  auto& moves = catalog->Of(&Analysis::moves);
  moves.AddLoss("memset", kCount | kPerStep | kBytes | kChange,
                {"memsets in the window", "Time in which only memsets ran on a device.",
                 "Memsets in the window are gone."},
                &Moves::memsets);
  moves.AddLoss("copy.device", kPerStep | kChange,
                {"copies inside a device", "Time in which only copies inside a device ran.",
                 "Copies inside a device are gone."},
                &Moves::device);
  moves.AddLoss("copy.peer", kPerStep | kChange,
                {"copies between devices", "Time in which only copies between devices ran.",
                 "Copies between devices overlap with the kernels."},
                &Moves::peer);
  moves.Add("copy.duplex.share", "share",
            "Of the direction (upload or download) that takes less time: the share that overlaps "
            "with the other.",
            &Moves::duplex_share);
  moves.AddLoss("copy.duplex", kLost,
                {"", "Exposed time of uploads or downloads, whichever takes less time.", ""},
                &Moves::one_way);
  moves.Add(
      "copy.migration.back_bytes", "bytes",
      "Bytes of unified memory that migrate to the host, without what the program prefetches.",
      &Moves::migrated_back_bytes);
  moves.Add("copy.migration.evicted_bytes", "bytes",
            "Of copy.migration.back_bytes: what left the GPU to make room there.",
            &Moves::evicted_bytes);
  moves.Add("copy.migration.prefetched_bytes", "bytes",
            "Bytes of unified memory that the program prefetches, in either direction.",
            &Moves::prefetched_bytes);
  moves.Add("copy.migration.returned_bytes", "bytes",
            "Bytes of unified memory that the program prefetches to the GPU and that migrate back "
            "to the host before a kernel runs.",
            &Moves::returned_bytes);
}

}  // namespace

void DeclareCopyFacts(Catalog* catalog) {
  DeclareCopyTotals(catalog);
  DeclareKinds(catalog);
  DeclareOffload(catalog);
  DeclareMoves(catalog);
}

}  // namespace advise::facts
