// comm.*, rank.late.*, rank.idle.*, rank.turns.*: communication kernels, and devices that come late
// or idle.
#include <algorithm>
#include <map>
#include <set>

#include "engine/cluster/sums.h"
#include "engine/facts/of_ranks.h"

namespace advise::facts {
namespace {

Rows KindRows(const Comm& c) {
  return RowsOf(c.kinds, [](const CollectiveRow& row) {
    return Row{{"kind", row.kind},
               {"count", static_cast<double>(row.count)},
               {"time", row.time_ns},
               {"exposed", row.exposed_ns}};
  });
}

std::shared_ptr<Remedy> AllBeside(const Analysis& a) {
  auto remedy = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < a.run.trace.ops.size(); ++op) {
    if (a.run.IsComm(op)) remedy->detached_ops.push_back(op);
  }
  // What a late rank is waited for, other work does not hide: that rank sets the pace. Nor does it
  // hide sums that could not begin earlier.
  const Nanos waits = a.unseen_ranks.Get().loss.lost->Total();
  const Nanos queued = a.comm.queued.lost->Total();
  if (waits > 0 || queued > 0) {
    Nanos exposed = 0;
    for (const DeviceTime& t : a.times) exposed += t.comm_exposed.Total();
    const auto devices = static_cast<Nanos>(std::max<std::size_t>(1, a.run.active_devices.size()));
    remedy->reach_ns = std::max<Nanos>(1, (exposed - std::max(waits, queued)) / devices);
    remedy->reach_reason =
        waits > queued ? "the rank that this one waits for" : "the link, which is never idle,";
  }
  return remedy;
}

// Of the time of each collective, this part is left.
std::shared_ptr<Remedy> AllFaster(const Analysis& a, double left) {
  auto remedy = std::make_shared<Remedy>();
  for (std::uint32_t op = 0; op < a.run.trace.ops.size(); ++op) {
    if (a.run.IsComm(op)) remedy->scaled_ops.emplace_back(op, static_cast<float>(left));
  }
  return remedy;
}

std::shared_ptr<Remedy> AllAtTwiceTheRate(const Analysis& a) { return AllFaster(a, 0.5); }

std::shared_ptr<Remedy> AllByPorts(const Analysis& a) {
  return AllFaster(a, 1 - a.run.knowledge.Number("comm.port_gain"));
}

void DeclareComm(Catalog* catalog) {
  auto& comm = catalog->Of(&Analysis::comm);
  comm.Add("comm.count", "count", "Number of communication kernels in the window.", &Comm::count);
  comm.Add("comm.per_step", "count", "Number of communication kernels on a device, per step.",
           &Comm::per_step);
  comm.Add("comm.time", "ns", "Time in which a communication kernel ran, mean over the devices.",
           &Comm::time_ns);
  comm.Add("comm.overlap", "share", "Share of the communication time that overlaps with compute.",
           &Comm::overlap);
  comm.Add("comm.median", "ns",
           "Median communication kernel (pure transfer, where the ranks show it).",
           &Comm::median_ns);
  comm.Add("comm.kinds", "rows", "Communication by collective: kind, count, time, exposed.",
           KindRows);
  comm.FromRanks([](const Cluster& c) { return CommOfRanks(c.ranks); });
}

void DeclareExposed(Catalog* catalog) {
  auto& comm = catalog->Of(&Analysis::comm);
  comm.Add("comm.same_stream", "flag", "Communication runs on the stream of the compute kernels.",
           &Comm::same_stream);
  comm.Add("comm.forward_sums", "share",
           "Of the exposed time of all-reduces, the share of those in the forward pass.",
           &Comm::forward_sums);
  comm.Add("comm.serial.share", "share",
           "Share of the gradient communication that begins after the last backward kernel.",
           &Comm::serial_share);
  comm.AddLoss(
      "comm.serial", kChange,
      {"",
       "Exposed time of gradient communication that begins after the last backward "
       "kernel.",
       "Gradient communication overlaps with the backward pass, as far as that is long enough."},
      &Comm::serial);
  comm.AddLoss("comm.no_overlap", kChange,
               {"",
                "Exposed time when communication and compute never overlap, other than serial "
                "gradients and what the optimizer sends.",
                "Communication overlaps with compute, as far as there is compute."},
               &Comm::no_overlap);
  comm.AddLoss("comm.queued", kChange,
               {"",
                "Exposed time of gradient sums that follow each other without a pause and begin "
                "beside the backward pass, less what could have begun earlier.",
                "Gradient sums that follow each other without a pause take half as long."},
               &Comm::queued);
  comm.AddLoss(
      "comm.small", kPerStep | kChange,
      {"short (latency-bound) communication kernels in a row, without much compute between",
       "Exposed time of short communication kernels in a row, and the gaps between them.",
       "Only a tenth of the short communication kernels remains."},
      &Comm::small);
  comm.Add("comm.small.share", "share",
           "Share of the communication kernels that are short (latency-bound) and come in a row.",
           &Comm::small_share);
  auto& all = catalog->OfAll();
  all.Add("comm.exposed", "spans", "Time in which only communication ran on a device.",
          [](const Analysis& a) {
            std::vector<IntervalSet> exposed;
            for (const DeviceTime& t : a.times) exposed.push_back(t.comm_exposed);
            return exposed;
          });
  all.Add("comm.opening", "spans",
          "Of comm.exposed: gathers of weights that follow their update with no other compute in "
          "between, so that nothing can run beside them.",
          [](const Analysis& a) { return a.comm.opening; });
  all.Add("comm.beside.remedy", "remedy",
          "All communication overlaps with compute, as far as there is compute.", AllBeside);
  all.Add("comm.twice.remedy", "remedy", "All communication runs at twice the rate.",
          AllAtTwiceTheRate);
  all.Add("comm.port.remedy", "remedy",
          "Communication that went over sockets runs at the rate of the network's ports.",
          AllByPorts);
}

void DeclareAccumulation(Catalog* catalog) {
  auto& steps = catalog->Of(&Analysis::accumulation);
  steps.Needs([](const Analysis& a) { return a.accumulation.backwards > 0; },
              "neither ranges nor losses tell the backward passes inside steps", "nvtx");
  steps.Add("comm.micro.backwards", "count", "Number of backward passes per step.",
            &Accumulation::backwards);
  steps.Add("comm.micro.synced", "count", "Backward passes in which gradients are sent, per step.",
            &Accumulation::synced);
  auto& accumulation = catalog->Of(&Analysis::accumulation);
  accumulation.Add("comm.micro.optimizers", "count", "Number of optimizer passes per step.",
                   IfPositive(&Accumulation::optimizers, "no ranges name the optimizer", "nvtx"));
  accumulation.AddLoss("comm.micro", kOfGaps,
                       {"gradient collectives in all backward passes of a step but the last",
                        "Exposed time of gradient collectives in all backward passes of a step but "
                        "the last.",
                        "Gradient collectives in all backward passes but the last are gone."},
                       &Accumulation::early);
}

void DeclareReplication(Catalog* catalog) {
  auto& replication = catalog->Of(&Analysis::replication);
  replication.Add("comm.replicate.devices", "count",
                  "Most devices that one process launches kernels on.", &Replication::devices);
  replication.Add("comm.replicate.broadcasts", "count",
                  "Broadcast kernels on each device of a process that has several, per step.",
                  &Replication::broadcasts);
  replication.Add("comm.replicate.reduces", "count",
                  "Reduce kernels on each device of a process that has several, per step.",
                  &Replication::reduces);
  replication.AddLoss("comm.replicate", kOfGaps,
                      {"broadcasts, reduces and copies between the GPUs of one process",
                       "Exposed time of broadcasts, reduces and copies between the GPUs of one "
                       "process.",
                       "Broadcasts, reduces and copies between the GPUs of one process are gone."},
                      &Replication::loss);
  auto& turns = catalog->Of(&Analysis::turns);
  turns.Add("rank.turns.devices", "count", "GPUs of the process that works on most; 0 for one.",
            &Turns::devices);
  turns.Add("rank.turns.together", "share",
            "Part of the busy time of all GPUs but the busiest one in which another one is busy, "
            "too, of the process that works on most GPUs.",
            &Turns::together);
  turns.Add("rank.turns.least", "share",
            "Busy time of the least busy GPU, over the time in which any is busy, of the process "
            "that works on most GPUs.",
            &Turns::least);
  const char* const kOneGpu = "no process uses several GPUs";
  turns.Add("rank.turns.busiest", "count",
            "Number of the GPU that works most, of the process that works on most GPUs.",
            If([](const Turns& t) { return t.devices > 1; }, &Turns::busiest, kOneGpu, ""));
  turns.Add("rank.turns.named", "share",
            "Part of that GPU's kernel time in kernels that other GPUs of the process run, in any "
            "grids.",
            &Turns::named);
  turns.Add("rank.turns.alike", "share",
            "Part of that GPU's kernel time in kernels that other GPUs of the process run in equal "
            "grids.",
            &Turns::alike);
  turns.Add("rank.turns.slower", "num",
            "Time of those kernels on the GPU that works most, over the time of as many of them on "
            "the others.",
            IfPositive(&Turns::slower, "the GPUs have no kernel in common", ""));
  turns.Add("rank.turns.share", "share",
            "Idle time of a GPU while another one works, over the window, on average, of the "
            "process that works on most GPUs.",
            &Turns::share);
  turns.Add("rank.turns.shorter", "share",
            "Time in which any GPU of that process works beyond that of the busiest one, over the "
            "window: what is won when all of them work at the same time.",
            &Turns::shorter);
  turns.Add("rank.turns.part", "share",
            "What is won when all GPUs of that process work at the same time, over the longest "
            "idle time of one of them.",
            &Turns::part);
  turns.AddLoss(
      "rank.turns", kLost,
      {"",
       "Idle time of the GPUs of the process that works on most, while another one of them works.",
       ""},
      &Turns::waiting);
  auto& contention = catalog->Of(&Analysis::contention);
  contention.Add(
      "comm.contention.slowdown", "num",
      "Time of compute kernels next to collectives over the time of the same kernels alone.",
      IfPositive([](const Contention& c) { return c.compared > 0 ? c.slowdown : 0; },
                 "no kernel ran often enough both next to collectives and alone", ""));
  contention.Add("comm.contention.compared", "count",
                 "Kernels next to collectives that were compared with the same kernels alone.",
                 &Contention::compared);
  contention.AddLoss(
      "comm.contention", kChange,
      {"", "Time of kernels next to collectives beyond the time of the same kernels alone.",
       "Kernels next to collectives take the time that they take alone."},
      &Contention::loss);
  auto& unseen = catalog->Of(&Analysis::unseen_ranks);
  unseen.Add("rank.unseen.compared", "count",
             "Collectives that were compared with others as large, or at their place in steps, "
             "where one GPU of the report communicates.",
             &UnseenRanks::compared);
  unseen.Add(
      "rank.unseen.by_places", "flag",
      "Waits for ranks that the report does not hold show by other collectives of the step: "
      "the report does not say how much each sends.",
      [](const UnseenRanks& u) { return 2 * u.by_places > static_cast<double>(u.loss.count); });
  unseen.Add("rank.unseen.longest", "ns",
             "Longest exposed wait for ranks that the report does not hold.",
             &UnseenRanks::longest_ns);
  unseen.AddLoss("rank.unseen", kOfGaps,
                 {"collectives that take longer than like ones",
                  "Exposed time of collectives beyond what the quick ones of their size take.",
                  "Collectives take the time that the quick ones of their size take."},
                 &UnseenRanks::loss);
}

// A fact of the rank that comes late, or why there is none.
template <typename Get>
auto OfLateRank(Get get) {
  return [get](const Cluster& c) -> Value {
    if (c.lateness.straggler.rank == kNone) {
      return Absent{"no collective of several ranks was matched, and not every rank has steps",
                    "ranks"};
    }
    return ValueOf(get(c));
  };
}

// GPUs that the reports of a host list, less those that some rank used.
double IdleDevices(const Cluster& c) {
  struct Gpus {
    int listed = 0;
    std::set<std::string> used;
  };
  std::map<std::string, Gpus> hosts;
  for (const RankSummary& rank : c.ranks) {
    Gpus& gpus = hosts[rank.host];
    gpus.listed = std::max(gpus.listed, rank.devices_listed);
    gpus.used.insert(rank.device_uuid.empty() ? std::to_string(rank.device) : rank.device_uuid);
  }
  double idle = 0;
  for (const auto& [host, gpus] : hosts)
    idle += std::max(0.0, gpus.listed - static_cast<double>(gpus.used.size()));
  return idle;
}

bool EachHasReport(const Cluster& c) {
  return c.missing.empty() && static_cast<int>(c.ranks.size()) >= c.world;
}

void DeclareLate(Catalog* catalog) {
  auto& late = catalog->Of(&Analysis::late_device);
  late.Needs([](const Analysis& a) { return a.late_device.device != kNone; },
             "collectives of several devices could not be matched", "ranks");
  late.Add(
      "rank.late.device", "count",
      "The device that comes last at most collectives; absent with fewer than two devices or "
      "without collectives.",
      [](const LateDevice& d, const Analysis& a) { return a.run.trace.devices[d.device].ordinal; });
  late.OfRanks(OfLateRank([](const Cluster& c) { return c.Number(c.lateness.straggler.rank); }));
  late.Add("rank.late.share", "share",
           "Of the exposed waiting at collectives with a late device (or at steps, see "
           "rank.late.at), the share for the one that is waited for most.",
           &LateDevice::share);
  late.OfRanks(OfLateRank([](const Cluster& c) { return c.lateness.straggler.share; }));
  late.Add("rank.late.at", "name",
           "What the late device comes last at: collectives, or steps where none were matched.",
           [](const LateDevice&) { return "collectives"; });
  late.OfRanks(OfLateRank(
      [](const Cluster& c) { return c.lateness.straggler.at_steps ? "steps" : "collectives"; }));
  late.Add("rank.late.lateness", "ns",
           "Mean time by which the late device comes after the median device.",
           &LateDevice::lateness_ns);
  late.OfRanks(OfLateRank([](const Cluster& c) { return c.lateness.straggler.lateness_ns; }));
  late.Add(
      "rank.late.largest", "share",
      "The largest single wait for the late rank, of all the waiting for it; 0 where there are "
      "fewer than four collectives or steps.",
      [](const LateDevice&) { return 0.0; });
  late.OfRanks(OfLateRank([](const Cluster& c) { return c.lateness.straggler.largest; }));
  late.Add("rank.late.cause", "name",
           "What the late device does more than the median device: loading, compute, launch, "
           "copies …",
           &LateDevice::cause);
  late.OfRanks(OfLateRank([](const Cluster& c) { return c.lateness.straggler.cause.words; }));
  late.Add("rank.late.lost", "spans",
           "Waiting of the other devices for the late one inside collectives.",
           In(&LateDevice::loss, &Loss::lost));
  late.OfRanks(OfLateRank([](const Cluster& c) {
    return LostOf(c.lateness.straggler.loss, {nullptr, c});
  }));
  late.Add("rank.late.remedy", "remedy", "The late device is as fast as the next-slowest one.",
           In(&LateDevice::loss, &Loss::remedy));
  late.OfRanks(OfLateRank([](const Cluster& c) {
    return RemedyOf(c.lateness.straggler.loss, {nullptr, c});
  }));
}

void DeclareIdleDevices(Catalog* catalog) {
  const char* const kNotAll = "not every rank has a report: others may use the remaining GPUs";
  auto& all = catalog->OfAll();
  all.Add("rank.idle.devices", "count",
          "Devices listed in the report (and visible to the job) that did nothing.",
          [](const Analysis& a) {
            return static_cast<double>(a.run.trace.devices.size() - a.run.active_devices.size());
          });
  all.OfRanks(If(EachHasReport, IdleDevices, kNotAll, "ranks"));
}

}  // namespace

void DeclareCommFacts(Catalog* catalog) {
  DeclareComm(catalog);
  DeclareExposed(catalog);
  DeclareAccumulation(catalog);
  DeclareReplication(catalog);
  DeclareLate(catalog);
  DeclareIdleDevices(catalog);
}

}  // namespace advise::facts
