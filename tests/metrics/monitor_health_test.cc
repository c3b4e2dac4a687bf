// Memory errors and links of boards, from samples of monitors.
#include "engine/metrics/system/monitor_health.h"

#include <catch2/catch.hpp>

#include "tests/support/analysed.h"

namespace advise {
namespace {

MonitoredGpu Board(const char* label, std::vector<MonitorSeries> series) {
  for (MonitorSeries& one : series)
    for (std::size_t i = 0; i < one.value.size(); ++i) one.time_s.push_back(static_cast<double>(i));
  return {label, "", "", std::move(series)};
}

MonitorHealth HealthOf(std::vector<MonitoredGpu> gpus) {
  Monitor monitor;
  monitor.gpus = std::move(gpus);
  return FindMonitorHealth(monitor, ShippedKnowledge());
}

TEST_CASE("boards with errors or repairs are named, sound ones are not") {
  const MonitorHealth health = HealthOf({Board("0", {{"ecc_uncorrected", "count", {}, {0, 0}}}),
                                         Board("1", {{"ecc_uncorrected", "count", {}, {0, 3}}}),
                                         Board("2", {{"remap_pending", "share", {}, {1}}})});
  CHECK(health.known);
  CHECK(health.faulty == std::vector<std::string>{"1", "2"});
  CHECK(health.uncorrected == 3);
  CHECK(health.pending);
  CHECK_FALSE(health.failed);
  CHECK_FALSE(HealthOf({Board("0", {{"utilization", "share", {}, {1}}})}).known);
}

TEST_CASE("the generation of a link counts while the GPU is in use") {
  const auto link = [](std::vector<double> busy, std::vector<double> now) {
    return HealthOf({Board("0", {{"utilization", "share", {}, std::move(busy)},
                                 {"pcie_generation", "count", {}, std::move(now)},
                                 {"pcie_generation_max", "count", {}, {4, 4, 4}}})});
  };
  CHECK(link({0, 1, 1}, {1, 4, 4}).slow_link.empty());  // at rest it saves power
  CHECK(link({0, 1, 1}, {1, 4, 4}).link_known);
  const MonitorHealth slow = link({1, 1, 1}, {2, 2, 2});
  CHECK(slow.slow_link == "0");
  CHECK(slow.generation == 2);
  CHECK(slow.possible == 4);
  CHECK_FALSE(link({0, 0, 0}, {1, 1, 1}).link_known);
}

}  // namespace
}  // namespace advise
