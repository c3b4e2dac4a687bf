// monitor.split.*, monitor.slow.*, monitor.falls.*, monitor.full_link.*: one GPU beside the others.
#include "engine/facts/declare.h"
#include "engine/facts/monitor_names.h"

namespace advise::facts {
namespace {

// GPUs at work in two groups.
void DeclareGroups(Catalog* catalog) {
  auto& monitor = catalog->Of(&Analysis::monitor);
  monitor.AlsoWithoutTimeline();
  const auto name = [&](const char* fact, std::vector<std::string> MonitorSplit::*group,
                        const char* definition) {
    monitor.Add(fact, "name", definition,
                UnlessEmpty([group](const MonitorSummary& m) { return NamesOf(m.split.*group); },
                            "all GPUs at work are used about alike, or no log says", ""));
  };
  name("monitor.split.low_gpus", &MonitorSplit::low,
       "GPUs at work that are used by far less than all others.");
  name("monitor.split.high_gpus", &MonitorSplit::high,
       "GPUs at work beside those that are used by far less.");
  monitor.Add("monitor.split.low", "share",
              "Mean utilization of the GPUs at work that are used by far less than all others; 0 "
              "without such.",
              [](const MonitorSummary& m) { return m.split.low_use; });
  monitor.Add("monitor.split.high", "share",
              "Mean utilization of the GPUs at work beside those that are used by far less; 0 "
              "without such.",
              [](const MonitorSummary& m) { return m.split.high_use; });
}

// Clocks of one GPU, beside the others and over time.
void DeclareClocks(Catalog* catalog) {
  auto& monitor = catalog->Of(&Analysis::monitor);
  monitor.AlsoWithoutTimeline();
  constexpr const char* kNone = "no GPU is so, or no log holds its clock";
  const auto slow = [](const MonitorSummary& m) { return !m.slow.label.empty(); };
  const auto falls = [](const MonitorSummary& m) { return !m.falls.label.empty(); };
  monitor.Add("monitor.slow.gpu", "name",
              "The busy GPU whose clock is far below that of most others.",
              UnlessEmpty([](const MonitorSummary& m) { return NameOf(m.slow.label); }, kNone, ""));
  monitor.Add("monitor.slow.clock", "hz", "Mean clock of the GPU that is slower than most others.",
              If(
                  slow, [](const MonitorSummary& m) { return m.slow.hz; }, kNone, ""));
  monitor.Add("monitor.slow.others", "hz", "Mean clock of the GPUs beside the slow one.",
              If(
                  slow, [](const MonitorSummary& m) { return m.slow.others_hz; }, kNone, ""));
  monitor.Add("monitor.slow.heat", "num",
              "Mean temperature in degrees Celsius of the GPU that is slower than most others.",
              UnlessNegative([](const MonitorSummary& m) { return m.slow.celsius; }, kNone, ""));
  monitor.Add(
      "monitor.slow.others_heat", "num",
      "Mean temperature in degrees Celsius of the GPUs beside the slow one.",
      UnlessNegative([](const MonitorSummary& m) { return m.slow.others_celsius; }, kNone, ""));
  monitor.Add(
      "monitor.falls.gpu", "name", "The busy GPU whose clock falls while it gets hot.",
      UnlessEmpty([](const MonitorSummary& m) { return NameOf(m.falls.label); }, kNone, ""));
  monitor.Add(
      "monitor.falls.clock", "share",
      "Clock in the last quarter of the busy samples over that in the first, of the GPU that "
      "gets hot.",
      If(
          falls, [](const MonitorSummary& m) { return m.falls.clock; }, kNone, ""));
  monitor.Add(
      "monitor.falls.before", "num",
      "Temperature in degrees Celsius in the first quarter of the busy samples of that GPU.",
      UnlessNegative([](const MonitorSummary& m) { return m.falls.celsius_before; }, kNone, ""));
  monitor.Add(
      "monitor.falls.after", "num",
      "Temperature in degrees Celsius in the last quarter of the busy samples of that GPU.",
      UnlessNegative([](const MonitorSummary& m) { return m.falls.celsius_after; }, kNone, ""));
}

// Links to the host that are full.
void DeclareFullLinks(Catalog* catalog) {
  auto& monitor = catalog->Of(&Analysis::monitor);
  monitor.AlsoWithoutTimeline();
  constexpr const char* kNone = "no GPU is so, or no log holds the traffic of its link";
  const auto full = [](const MonitorSummary& m) { return !m.full.label.empty(); };
  monitor.Add("monitor.full_link.gpu", "name",
              "The GPU whose link to the host is full in nearly all samples of the job.",
              UnlessEmpty([](const MonitorSummary& m) { return NameOf(m.full.label); }, kNone, ""));
  monitor.Add("monitor.full_link.upload", "flag",
              "Whether the full link is so in the direction from the host to the GPU.",
              If(
                  full, [](const MonitorSummary& m) { return m.full.upload; }, kNone, ""));
  monitor.Add("monitor.full_link.rate", "bytes_per_s", "Mean traffic over the link that is full.",
              If(
                  full, [](const MonitorSummary& m) { return m.full.rate; }, kNone, ""));
  monitor.Add("monitor.full_link.peak", "bytes_per_s",
              "What a link like the full one moves in practice.",
              If(
                  full, [](const MonitorSummary& m) { return m.full.link_rate; }, kNone, ""));
  monitor.Add("monitor.full_link.logged", "flag",
              "Whether the log says what link it is. Else the traffic is near to what such a link "
              "moves in practice.",
              If(
                  full, [](const MonitorSummary& m) { return m.full.logged; }, kNone, ""));
  monitor.Add("monitor.full_link.link", "name", "What link it is that is full.",
              UnlessEmpty([](const MonitorSummary& m) { return m.full.link; }, kNone, ""));
}

}  // namespace

void DeclareMonitorGpuFacts(Catalog* catalog) {
  DeclareGroups(catalog);
  DeclareClocks(catalog);
  DeclareFullLinks(catalog);
}

}  // namespace advise::facts
