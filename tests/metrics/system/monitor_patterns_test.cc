// What monitors show over time, and of one GPU beside others, on logs of one sample per second.
#include "engine/metrics/system/monitor_patterns.h"

#include <functional>

#include "tests/support/analyzed.h"

namespace advise {
namespace {

using OfTime = std::function<double(int)>;

MonitorSeries SeriesOf(const char* quantity, int seconds, const OfTime& value) {
  MonitorSeries series;
  series.quantity = quantity;
  for (int s = 0; s < seconds; ++s) {
    series.time_s.push_back(s);
    series.value.push_back(value(s));
  }
  return series;
}

MonitoredGpu GpuOf(const char* label, int seconds, const OfTime& busy, const OfTime& watts) {
  return {label,
          "",
          "",
          "",
          {SeriesOf("utilization", seconds, busy), SeriesOf("power", seconds, watts)}};
}

MonitorPatterns PatternsOf(std::vector<MonitoredGpu> gpus) {
  Monitor monitor;
  monitor.gpus = std::move(gpus);
  monitor.has_clock = true;
  return FindMonitorPatterns(monitor, ShippedKnowledge());
}

double Always(int) { return 1; }
double Watts(int) { return 600; }

TEST_CASE("what lies before the job and after it is told, and is no pause") {
  const auto busy = [](int s) { return s >= 100 && s <= 400 ? 1.0 : 0.0; };
  const MonitorPatterns patterns = PatternsOf({GpuOf("0", 460, busy, Watts)});
  CHECK(patterns.before == 100);
  CHECK(patterns.after == 59);
  CHECK(patterns.pauses.count == 0);
}

TEST_CASE("all GPUs idle for long are a pause of the job; one of them is not") {
  // 30 s of every 100 s; the second GPU also rests from the 50th second to the 60th.
  const auto saves = [](int s) { return s % 100 < 70 ? 1.0 : 0.0; };
  const auto rests = [](int s) { return s % 100 < 50 || (s % 100 >= 65 && s % 100 < 70); };
  MonitorPatterns patterns = PatternsOf(
      {GpuOf("0", 470, saves, Watts), GpuOf(
                                          "1", 470, [&](int s) { return rests(s); }, Watts)});
  CHECK(patterns.pauses.count == 4);
  CHECK(patterns.pauses.seconds == Approx(120));
  CHECK(patterns.pauses.longest == Approx(30));
  CHECK(patterns.pauses.share == Approx(120.0 / 469));
  CHECK(patterns.pauses.every == Approx(100));
  // Steps that wait for data are no pauses, whatever they sum up to.
  patterns = PatternsOf({GpuOf(
      "0", 470, [](int s) { return s % 10 < 2 ? 1.0 : 0.0; }, Watts)});
  CHECK(patterns.pauses.count == 0);
}

TEST_CASE("three pauses at one distance have a period, two have none") {
  const auto every = [](int seconds) {
    return PatternsOf({GpuOf(
                          "0", seconds, [](int s) { return s % 100 < 70 ? 1.0 : 0.0; }, Watts)})
        .pauses;
  };
  CHECK(every(370).count == 3);
  CHECK(every(370).every == Approx(100));
  CHECK(every(270).count == 2);
  CHECK(every(270).every == -1);
}

TEST_CASE("pauses at different distances have no period") {
  const auto busy = [](int s) {
    return (s >= 50 && s < 80) || (s >= 100 && s < 130) || (s >= 300 && s < 330) ? 0.0 : 1.0;
  };
  const MonitorPauses pauses = PatternsOf({GpuOf("0", 470, busy, Watts)}).pauses;
  CHECK(pauses.count == 3);
  CHECK(pauses.every == -1);
}

TEST_CASE("a hole in the log is no pause") {
  MonitoredGpu gpu = GpuOf(
      "0", 200, [](int s) { return s == 99 ? 0.0 : 1.0; }, Watts);
  for (MonitorSeries& series : gpu.series)
    for (std::size_t i = 100; i < series.time_s.size(); ++i) series.time_s[i] += 500;
  CHECK(PatternsOf({gpu}).pauses.count == 0);
}

// Three GPUs; the last is idle from the 300th second on, and the others draw `watts` then.
MonitorStop StopAt(double watts, int seconds = 600) {
  const auto power = [=](int s) { return s < 300 ? 600.0 : watts; };
  const auto stops = [](int s) { return s < 300 ? 1.0 : 0.0; };
  return PatternsOf({GpuOf("0", seconds, Always, power), GpuOf("1", seconds, Always, power),
                     GpuOf("2", seconds, stops, power)})
      .stop;
}

TEST_CASE("a GPU stops while the others spin") {
  const MonitorStop stop = StopAt(200);
  CHECK(stop.stopped == std::vector<std::string>{"2"});
  CHECK(stop.waiting == 2);
  CHECK(stop.seconds == Approx(299));
  CHECK(stop.power == Approx(1.0 / 3));
  CHECK(stop.to_the_end);
  CHECK(StopAt(500).stopped.empty());       // they compute: another job, or one that needs it less
  CHECK(StopAt(200, 350).stopped.empty());  // it may only be about to save
}

TEST_CASE("memory that grows all the time, and when it is full") {
  const auto grown = [](const OfTime& used) {
    MonitoredGpu gpu = GpuOf("3", 1000, Always, Watts);
    gpu.series.push_back(SeriesOf("memory_used", 1000, used));
    gpu.series.push_back(SeriesOf("memory_total", 1000, [](int) { return 80e9; }));
    return PatternsOf({gpu}).growth;
  };
  const MonitorGrowth growth = grown([](int s) { return 20e9 + s * 1e7; });
  CHECK(growth.label == "3");
  CHECK(growth.bytes_per_second == Approx(1e7).epsilon(0.01));
  CHECK(growth.seconds_to_full == Approx((80e9 - 30e9) / 1e7).epsilon(0.01));
  // Taken in one go, or less and less: allocators and caches that find their size.
  CHECK(grown([](int s) { return s < 500 ? 20e9 : 40e9; }).label.empty());
  CHECK(grown([](int s) { return 40e9 - 20e9 * std::exp(-s / 150.0); }).label.empty());
  CHECK(grown([](int s) { return 20e9 + s * 1e6; }).label.empty());  // five percent
}

TEST_CASE("a link with fewer lanes than others have, or than it could") {
  const auto linked = [](const char* label, double busy, double lanes, double could) {
    MonitoredGpu gpu = GpuOf(
        label, 20, [=](int) { return busy; }, Watts);
    gpu.series.push_back(SeriesOf("pcie_lanes", 20, [=](int) { return lanes; }));
    if (could > 0) gpu.series.push_back(SeriesOf("pcie_lanes_max", 20, [=](int) { return could; }));
    return gpu;
  };
  const NarrowLink narrow = PatternsOf({linked("0", 1, 16, 0), linked("1", 1, 4, 0)}).link;
  CHECK(narrow.label == "1");
  CHECK(narrow.lanes == 4);
  CHECK(narrow.others == 16);
  CHECK(PatternsOf({linked("0", 1, 8, 16)}).link.label == "0");
  CHECK(PatternsOf({linked("0", 1, 8, 8), linked("1", 1, 8, 8)}).link.label.empty());
  // A card that has no more lanes is not narrow beside another one that has.
  CHECK(PatternsOf({linked("0", 1, 16, 16), linked("1", 1, 8, 8)}).link.label.empty());
  // A GPU at rest may switch lanes off.
  CHECK(PatternsOf({linked("0", 1, 16, 16), linked("1", 0, 1, 16)}).link.label.empty());
}

TEST_CASE("pauses about as long as the limit count together, whatever the clock's jitter") {
  // Ten seconds of work, ten of rest; each sample is late by up to half a second.
  MonitoredGpu gpu = GpuOf(
      "0", 235, [](int s) { return s % 20 < 10 ? 1.0 : 0.0; }, Watts);
  for (MonitorSeries& series : gpu.series)
    for (std::size_t i = 0; i < series.time_s.size(); ++i)
      series.time_s[i] += 0.1 * static_cast<double>(i * 7 % 6);
  const MonitorPauses pauses = PatternsOf({gpu}).pauses;
  CHECK(pauses.count == 11);
  CHECK(pauses.seconds == Approx(110).epsilon(0.05));
}

TEST_CASE("a stop of most of the log is told by the power before it") {
  const auto power = [](int s) { return s < 60 ? 620.0 : 140.0; };
  const auto stops = [](int s) { return s < 60 ? 1.0 : 0.0; };
  const MonitorStop stop =
      PatternsOf({GpuOf("0", 600, Always, power), GpuOf("1", 600, Always, power),
                  GpuOf("2", 600, stops, power)})
          .stop;
  CHECK(stop.stopped == std::vector<std::string>{"2"});
  CHECK(stop.power == Approx(140.0 / 620));
}

// Two GPUs in use all the time, which draw `watts` and use their memory by `memory` from the 60th
// second on.
MonitorHang HangOf(double watts, double memory, int seconds = 240) {
  const auto power = [=](int s) { return s < 60 ? 620.0 : watts; };
  std::vector<MonitoredGpu> gpus = {GpuOf("0", seconds, Always, power),
                                    GpuOf("1", seconds, Always, power)};
  for (MonitoredGpu& gpu : gpus)
    gpu.series.push_back(
        SeriesOf("memory_activity", seconds, [=](int s) { return s < 60 ? 0.55 : memory; }));
  return PatternsOf(gpus).hang;
}

TEST_CASE("all GPUs in use at little power up to the end, without memory traffic: a hang") {
  const MonitorHang hang = HangOf(135, 0);
  CHECK(hang.gpus == 2);
  CHECK(hang.seconds == Approx(179));
  CHECK(hang.power == Approx(135.0 / 620));
  CHECK(HangOf(135, 0.2).gpus == 0);     // kernels that read memory: other work
  CHECK(HangOf(500, 0).gpus == 0);       // kernels that compute
  CHECK(HangOf(135, 0, 100).gpus == 0);  // it may only be about to save
}

}  // namespace
}  // namespace advise
