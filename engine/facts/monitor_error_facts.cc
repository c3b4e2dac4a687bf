// monitor.xid.*, monitor.replays.*, monitor.broken.*, monitor.killed.*: errors that the driver, the
// kernel and counters of links tell of.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/base/is_in.h"
#include "engine/facts/declare.h"
#include "engine/facts/monitor_names.h"

namespace advise::facts {
namespace {

constexpr const char* kNoErrorLog = "no monitor log was given, or it does not hold this";

// "Xid 94 of GPU 0: what it means", of all but the worst.
std::string OtherErrors(const DriverErrors& errors) {
  std::string words;
  for (const DriverErrors::Other& one : errors.all) {
    if (one.code == errors.code && one.gpu == errors.all.front().gpu) continue;
    if (one.code == errors.code && IsIn(one.gpu, errors.gpus)) continue;  // named with the worst
    words += (words.empty() ? "" : "; ") + fmt::format("Xid {} on {}", one.code, NameOf(one.gpu));
    if (!one.says.empty()) words += " (" + one.says + ")";
  }
  return words;
}

// "NVSwitch 3: SXid 20034, Fatal, Link 28 LTSSM Fault Up"
std::string BrokenLinks(const std::vector<LinkEvent>& links, bool broken) {
  std::string words;
  for (const LinkEvent& one : links) {
    if (one.broken == broken) words += (words.empty() ? "" : "; ") + one.device + ": " + one.what;
  }
  return words;
}

std::string KindOfBroken(const std::vector<LinkEvent>& links) {
  constexpr std::array<const char*, 3> kWords = {"switch", "port", "pcie"};
  for (const auto kind :
       {LinkEvent::Kind::kSwitch, LinkEvent::Kind::kPort, LinkEvent::Kind::kPcie}) {
    for (const LinkEvent& one : links)
      if (one.broken && one.kind == kind) return kWords[static_cast<std::size_t>(kind)];
  }
  return "";
}

// Links that the log of the kernel names.
void DeclareBrokenLinks(Catalog* catalog) {
  using H = MonitorHealth;
  auto& health = catalog->Of(&Analysis::monitor_health);
  health.AlsoWithoutTimeline();
  constexpr const char* kNone = "the Linux kernel log names no such event, or none was given";
  health.Add("monitor.broken.count", "count",
             "Errors of NVSwitches, network ports and PCIe in the Linux kernel log that were not "
             "corrected, each once; absent without such a log.",
             If([](const H& h) { return h.kills_known; },
                [](const H& h) {
                  return std::count_if(h.links.begin(), h.links.end(),
                                       [](const LinkEvent& one) { return one.broken; });
                },
                kNoErrorLog, "kernel-log"));
  health.Add("monitor.broken.kind", "name",
             "What the first error of a link in the log of the kernel is of: switch, port or pcie.",
             UnlessEmpty([](const H& h) { return KindOfBroken(h.links); }, kNone, ""));
  health.Add(
      "monitor.broken.says", "name",
      "Errors of NVSwitches, network ports and PCIe in the Linux kernel log, with the devices.",
      UnlessEmpty([](const H& h) { return BrokenLinks(h.links, true); }, kNone, ""));
  health.Add(
      "monitor.broken.corrected", "name",
      "Errors of links in the Linux kernel log that were corrected or need not end anything.",
      UnlessEmpty([](const H& h) { return BrokenLinks(h.links, false); }, kNone, ""));
}

std::string BoardsOf(const DriverErrors& errors) { return NamesOf(errors.gpus); }

// What the driver reported, and transfers that were repeated.
void DeclareReports(Catalog* catalog) {
  using H = MonitorHealth;
  auto& health = catalog->Of(&Analysis::monitor_health);
  health.AlsoWithoutTimeline();
  const auto xids = [](const H& h) { return h.xids_known; };
  const auto errors = [&](const std::string& name, DriverErrors H::*which, const char* gpus,
                          const char* code, const char* kind, const char* says,
                          const char* others) {
    health.Add(name + ".others", "name", others,
               UnlessEmpty([which](const H& h) { return OtherErrors(h.*which); },
                           "no log tells of further errors", ""));
    health.Add(
        name + ".gpus", "name", gpus,
        UnlessEmpty([which](const H& h) { return BoardsOf(h.*which); }, kNoErrorLog, "monitor"));
    health.Add(name + ".code", "count", code,
               If(
                   xids, [which](const H& h) { return (h.*which).code; }, kNoErrorLog, "monitor"));
    health.Add(
        name + ".kind", "name", kind,
        UnlessEmpty([which](const H& h) { return (h.*which).kind; }, kNoErrorLog, "monitor"));
    health.Add(
        name + ".says", "name", says,
        UnlessEmpty([which](const H& h) { return (h.*which).says; }, kNoErrorLog, "monitor"));
  };
  errors(
      "monitor.xid.board", &H::of_board,
      "GPUs of which the driver reported errors (Xid) that are not those of a program.",
      "Number (Xid) of the worst error that is not one of a program; 0 for none.",
      "What the worst error is about that is not one of a program: memory, board, link or driver; "
      "absent for a number that is not known.",
      "What the worst error means that is not one of a program.",
      "Further errors that are not those of a program, with the GPU and what each means.");
  errors("monitor.xid.program", &H::of_program,
         "GPUs of which the driver reported errors (Xid) of a program.",
         "Number (Xid) of the worst error of a program; 0 for none.",
         "What the worst error of a program is about: program.",
         "What the worst error of a program means.",
         "Further errors of programs, with the GPU and what each means.");
  const auto link = [&](const std::string& name, LinkErrors H::*which, const char* gpu,
                        const char* count, const char* rate) {
    const auto known = [which](const H& h) { return (h.*which).known; };
    health.Add(name + ".gpu", "name", gpu,
               UnlessEmpty([which](const H& h) { return NameOf((h.*which).label); }, kNoErrorLog,
                           "monitor"));
    health.Add(
        name + ".count", "count", count,
        If(
            known, [which](const H& h) { return (h.*which).count; }, kNoErrorLog, "monitor"));
    health.Add(name + ".rate", "num", rate,
               UnlessNegative([which](const H& h) { return (h.*which).per_minute; }, kNoErrorLog,
                              "monitor"));
  };
  link("monitor.replays.pcie", &H::pcie, "The GPU whose PCIe link repeats most transfers.",
       "Transfers over PCIe that this GPU repeated while the log was written.",
       "Transfers over PCIe that this GPU repeated per minute.");
  link("monitor.replays.nvlink", &H::nvlink, "The GPU whose NVLinks repeat most transfers.",
       "Transfers over NVLink that this GPU repeated, and times that it set a link up again, while "
       "the log was written.",
       "Transfers over NVLink that this GPU repeated, and times that it set a link up again, per "
       "minute.");
  health.Add("monitor.killed.count", "count",
             "Programs that the kernel ended because the host's memory was full.",
             If([](const H& h) { return h.kills_known; },
                [](const H& h) { return h.killed.size(); }, kNoErrorLog, "kernel-log"));
  health.Add(
      "monitor.killed.name", "name",
      "Name of the program that the kernel ended first because the host's memory was full.",
      UnlessEmpty([](const H& h) { return h.killed.empty() ? std::string() : h.killed.front(); },
                  kNoErrorLog, "kernel-log"));
}

// Processes on one GPU.
void DeclareShared(Catalog* catalog) {
  using H = MonitorHealth;
  auto& health = catalog->Of(&Analysis::monitor_health);
  health.AlsoWithoutTimeline();
  health.Add(
      "monitor.shared.count", "count",
      "Processes that compute on one GPU at once, of the GPU with most of them, by a list "
      "of processes; 0 where each GPU has one.",
      If([](const H& h) { return h.shared.known; }, [](const H& h) { return h.shared.processes; },
         "no list of processes was given", "monitor"));
  const auto name = [&](const char* fact, std::string SharedGpu::*value, const char* words) {
    health.Add(fact, "name", words,
               UnlessEmpty([value](const H& h) { return h.shared.*value; },
                           "each GPU has one process, or no list was given", ""));
  };
  name("monitor.shared.gpu", &SharedGpu::gpu,
       "The GPU that most processes use at once, as the list names it.");
  name("monitor.shared.names", &SharedGpu::names,
       "The processes that share a GPU: name, number and memory.");
}

}  // namespace

void DeclareMonitorErrorFacts(Catalog* catalog) {
  DeclareShared(catalog);
  DeclareReports(catalog);
  DeclareBrokenLinks(catalog);
}

}  // namespace advise::facts
