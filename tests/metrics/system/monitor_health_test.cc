// Memory errors and links of boards, from samples of monitors.
#include "engine/metrics/system/monitor_health.h"

#include <catch2/catch.hpp>

#include "tests/support/analyzed.h"

namespace advise {
namespace {

MonitoredGpu Board(const char* label, std::vector<MonitorSeries> series) {
  for (MonitorSeries& one : series)
    for (std::size_t i = 0; i < one.value.size(); ++i) one.time_s.push_back(static_cast<double>(i));
  return {label, "", "", "", std::move(series)};
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

TEST_CASE("a single failed repair makes a board faulty") {
  const MonitorHealth health = HealthOf({Board("0", {{"remap_failed", "count", {}, {0, 1}}})});
  CHECK(health.failed);
  CHECK_FALSE(health.pending);
  CHECK(health.faulty == std::vector<std::string>{"0"});
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

TEST_CASE("only the log of the kernel tells that it killed no process, samples tell errors alone") {
  Monitor log;
  log.kernel_log = true;
  const MonitorHealth quiet = FindMonitorHealth(log, ShippedKnowledge());
  CHECK(quiet.kills_known);
  CHECK(quiet.xids_known);
  CHECK(quiet.killed.empty());
  const MonitorHealth sampled = HealthOf({Board("0", {{"xid", "code", {}, {0, 0}}})});
  CHECK_FALSE(sampled.kills_known);
  CHECK(sampled.xids_known);
}

TEST_CASE("errors that the driver reports: the worst of boards, and those of programs") {
  Monitor monitor;
  monitor.gpus = {Board("0", {{"xid", "code", {}, {0, 31}}}),
                  Board("1", {{"xid", "code", {}, {63, 63}}}),
                  Board("2", {{"xid", "code", {}, {0, 0}}})};
  monitor.errors = {{"0000:cb:00", 79}, {"0000:cb:00", 74}, {"0000:cc:00", 999}};
  const MonitorHealth health = FindMonitorHealth(monitor, ShippedKnowledge());
  CHECK(health.xids_known);
  CHECK(health.of_board.code == 79);
  CHECK(health.of_board.kind == "board");
  CHECK(health.of_board.gpus == std::vector<std::string>{"0000:cb:00", "0000:cc:00", "1"});
  CHECK(health.of_program.code == 31);
  CHECK(health.of_program.gpus == std::vector<std::string>{"0"});
  // What the driver tells beside an error is none: how to recover, or a test message.
  const MonitorHealth told = HealthOf({Board("0", {{"xid", "code", {}, {106, 154}}})});
  CHECK(told.xids_known);
  CHECK(told.of_board.code == 0);
  CHECK(told.of_board.gpus.empty());
  CHECK(HealthOf({Board("0", {{"xid", "code", {}, {154, 149}}})}).of_board.kind == "link");
  // A number that nobody knows is no fault of a program.
  CHECK(HealthOf({Board("0", {{"xid", "code", {}, {999}}})}).of_board.code == 999);
  CHECK(HealthOf({Board("0", {{"xid", "code", {}, {0}}})}).xids_known);
  CHECK_FALSE(HealthOf({Board("0", {{"power", "W", {}, {300}}})}).xids_known);
}

TEST_CASE("repeated transfers count while the log is written") {
  const auto links = [](std::vector<double> replays, bool has_clock) {
    Monitor monitor;
    monitor.has_clock = has_clock;
    monitor.gpus = {Board("0", {{"pcie_replays", "count", {}, {5, 5, 5}}}),
                    Board("1", {{"pcie_replays", "count", {}, std::move(replays)}})};
    return FindMonitorHealth(monitor, ShippedKnowledge()).pcie;
  };
  const LinkErrors grown = links({120, 130, 150}, true);
  CHECK(grown.label == "1");
  CHECK(grown.count == 30);
  CHECK(grown.per_minute == Approx(30 * 60 / 2.0));
  CHECK(links({120, 130, 150}, false).per_minute == -1);
  CHECK(links({120, 120, 120}, true).label.empty());
  CHECK(links({120, 120, 120}, true).known);
  CHECK(links({120, 2, 4}, true).count == 2);  // the driver was loaded again
  CHECK(links({120, 121}, true).count == 1);
  CHECK(links({120, 121}, true).per_minute == Approx(60));
  CHECK_FALSE(links({120}, true).count > 0);
}

}  // namespace
}  // namespace advise
