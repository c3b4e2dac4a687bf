// Monitor logs: means over the time of the job and the GPUs at work, worked out by hand.
#include "engine/metrics/system/monitor_summary.h"
#include "tests/support/analyzed.h"

namespace advise {
namespace {

MonitorSeries SeriesOf(const char* quantity, std::vector<double> values) {
  MonitorSeries series;
  series.quantity = quantity;
  for (std::size_t i = 0; i < values.size(); ++i) {
    series.time_s.push_back(static_cast<double>(i));
  }
  series.value = std::move(values);
  return series;
}

MonitorSummary Summary(std::vector<MonitoredGpu> gpus) {
  Trace trace;
  trace.monitor.gpus = std::move(gpus);
  trace.monitor.has_clock = true;
  return SummarizeMonitor(trace, ShippedKnowledge());
}

TEST_CASE("an analysis holds what monitors saw") {
  Trace trace;
  trace.monitor.gpus = {{"0", "", "", "", {SeriesOf("utilization", {1, 1})}}};
  const Analysis analysis(trace, ShippedKnowledge(), {});
  REQUIRE(analysis.monitor.gpus.size() == 1);
  CHECK(analysis.monitor.gpus[0].utilization == 1);
}

TEST_CASE("idle time before the job and after it does not count, pauses inside do") {
  const MonitorSummary summary =
      Summary({{"0", "", "", "", {SeriesOf("utilization", {0, 0, 0.9, 0, 0.9, 0.6, 0, 0.02, 0})}}});
  REQUIRE(summary.gpus.size() == 1);
  CHECK(summary.gpus[0].samples == 4);
  CHECK(summary.gpus[0].utilization == Approx(0.6));  // 0.9, 0, 0.9, 0.6
  CHECK(summary.gpus[0].below == Approx(0.5));        // 0 and 0.6 lie below 0.8
  CHECK(summary.seconds == 3);
}

TEST_CASE("a log in which no GPU works is as long as it lasts, wherever its clock begins") {
  MonitorSeries power = SeriesOf("power", {80, 80, 80});
  for (double& time_s : power.time_s) time_s += 100;
  const MonitorSummary summary = Summary({{"0", "", "", "", {power}}});
  CHECK(summary.seconds == 2);
  CHECK(summary.logged == 3);
}

TEST_CASE("the job's time is that of all GPUs of a log; GPUs that do nothing are no part of it") {
  const MonitorSummary summary =
      Summary({{"0", "", "", "", {SeriesOf("utilization", {0, 1, 1, 1, 0})}},
               {"1", "", "", "", {SeriesOf("utilization", {0, 0, 0, 1, 0})}},
               {"2", "", "", "", {SeriesOf("utilization", {0, 0, 0, 0, 0})}}});
  CHECK(summary.gpus[0].utilization == 1);
  CHECK(summary.gpus[1].utilization == Approx(1.0 / 3));
  CHECK_FALSE(summary.gpus[2].at_work);
  CHECK(summary.Mean(&MonitoredUse::utilization) == Approx(2.0 / 3));
}

TEST_CASE("power, clocks and their limits are those of busy samples") {
  const MonitorSummary summary = Summary(
      {{"0",
        "",
        "NVIDIA H100 80GB HBM3",
        "",
        {SeriesOf("utilization", {1, 1, 0.2, 1}), SeriesOf("power", {350, 700, 100, 350}),
         SeriesOf("sm_clock", {1.98e9, 0.99e9, 0.3e9, 1.98e9}),
         SeriesOf("throttle_power", {0, 1, 0, 0}), SeriesOf("throttle_thermal", {0, 0, 1, 0})}}});
  const MonitoredUse& use = summary.gpus[0];
  CHECK(use.power == Approx((350 + 700 + 100 + 350) / 4.0 / 700));  // 700 W: the board's
  CHECK(use.busy_power == Approx(1400 / 3.0 / 700));
  CHECK(use.by_power == Approx(1.0 / 3));
  CHECK(use.by_heat == 0.25);  // of all samples at work: the hot one is of a GPU that waits, too
  CHECK(use.clock == Approx((1.98 + 0.99 + 1.98) / 3 / 1.98));
}

// The third sample is of a GPU that hardly works; the means of some leave it out.
TEST_CASE("each series of a log fills its own number") {
  using Field = double MonitoredUse::*;
  struct Filled {
    const char* series;
    Field field;
    bool busy;
  };
  for (const Filled& one : {Filled{"power", &MonitoredUse::watts, false},
                            {"throttle_power", &MonitoredUse::by_power, true},
                            {"throttle_thermal", &MonitoredUse::by_heat, false},
                            {"throttle_brake", &MonitoredUse::by_brake, true},
                            {"throttle_hardware", &MonitoredUse::by_hardware, true},
                            {"sm_clock", &MonitoredUse::hz, true},
                            {"temperature", &MonitoredUse::celsius, true},
                            {"gr_active", &MonitoredUse::gr_active, false},
                            {"sm_active", &MonitoredUse::sm_active, false},
                            {"tensor_active", &MonitoredUse::tensor_active, false},
                            {"dram_active", &MonitoredUse::dram_active, false}}) {
    INFO(one.series);
    const MonitoredUse with = Summary({{"0",
                                        "",
                                        "",
                                        "",
                                        {SeriesOf("utilization", {1, 1, 0.2, 1}),
                                         SeriesOf(one.series, {0.25, 0.5, 0.125, 0.75})}}})
                                  .gpus.at(0);
    const MonitoredUse without =
        Summary({{"0", "", "", "", {SeriesOf("utilization", {1, 1, 0.2, 1})}}}).gpus.at(0);
    CHECK(with.*one.field == Approx(one.busy ? 0.5 : 1.625 / 4));
    CHECK(without.*one.field == -1);
  }
}

TEST_CASE("a value that is missing in a row moves nothing to another row") {
  MonitorSeries power = SeriesOf("power", {0, 0, 500});
  power.time_s = {1, 2, 3};  // none in row 0
  const MonitorSummary summary = Summary(
      {{"0", "", "NVIDIA H100 80GB HBM3", "", {SeriesOf("utilization", {1, 0.1, 0.1, 1}), power}}});
  CHECK(summary.gpus[0].busy_power == Approx(500.0 / 700));
}

TEST_CASE("DCGM's count of active engines is its utilization") {
  const MonitorSummary summary =
      Summary({{"0", "", "", "", {SeriesOf("gr_active", {0, 1, 0.5, 1, 0})}}});
  CHECK(summary.gpus[0].utilization == Approx(2.5 / 3));
  CHECK(summary.gpus[0].below == Approx(1.0 / 3));
}

TEST_CASE("a log of power alone has no utilization, and nothing is made up") {
  const MonitorSummary summary = Summary({{"0", "", "", "", {SeriesOf("power", {20, 30, 40})}}});
  CHECK(summary.gpus[0].at_work);
  CHECK(summary.gpus[0].utilization == -1);
  CHECK(summary.gpus[0].power == -1);  // of an unknown limit
  CHECK(summary.Mean(&MonitoredUse::utilization) == -1);
}

TEST_CASE("memory: the peak, and the capacity of the log before that of the card") {
  const MonitorSummary logged = Summary(
      {{"0",
        "",
        "NVIDIA A100-SXM4-80GB",
        "",
        {SeriesOf("memory_used", {1e9, 5e9, 2e9}), SeriesOf("memory_total", {85e9, 85e9})}}});
  CHECK(logged.gpus[0].memory_peak == 5e9);
  CHECK(logged.gpus[0].memory_total == 85e9);
  const MonitorSummary known =
      Summary({{"0", "", "NVIDIA A100-SXM4-80GB", "", {SeriesOf("memory_used", {1e9})}}});
  CHECK(known.gpus[0].memory_total == 80e9);
  // Exporters give what is used and what is free. Data sheets round: no use is above the capacity.
  const MonitorSummary parts = Summary(
      {{"0",
        "",
        "NVIDIA H100 80GB HBM3",
        "",
        {SeriesOf("memory_used", {83.9e9, 83.9e9}), SeriesOf("memory_free", {0.3e9, 0.3e9})}}});
  CHECK(parts.gpus[0].memory_total == Approx(84.2e9));
  const MonitorSummary above =
      Summary({{"0", "", "NVIDIA H100 80GB HBM3", "", {SeriesOf("memory_used", {83.9e9})}}});
  CHECK(above.gpus[0].memory_total == 83.9e9);
}

TEST_CASE("two logs of one GPU keep their own clocks") {
  const MonitorSummary summary = Summary(
      {{"0", "", "", "", {SeriesOf("utilization", {0, 0, 1, 1})}},
       {"0", "", "", "", {SeriesOf("gr_active", {0.5, 0.5}), SeriesOf("sm_active", {0.2, 0.4})}}});
  REQUIRE(summary.gpus.size() == 2);
  CHECK(summary.gpus[0].utilization == 1);
  CHECK(summary.gpus[1].sm_active == Approx(0.3));
  CHECK(summary.Mean(&MonitoredUse::sm_active) == Approx(0.3));
}

TEST_CASE("GPUs used by far less than the others are told apart") {
  const auto uses = [](std::vector<double> means) {
    std::vector<MonitoredGpu> gpus;
    for (const double mean : means)
      gpus.push_back(
          {std::to_string(gpus.size()), "", "", "", {SeriesOf("utilization", {mean, mean})}});
    return Summary(std::move(gpus)).split;
  };
  const MonitorSplit halves = uses({0.97, 0.98, 0.4, 0.41, 0});
  CHECK(halves.low == std::vector<std::string>{"2", "3"});
  CHECK(halves.high == std::vector<std::string>{"0", "1"});
  CHECK(halves.low_use == Approx(0.405));
  CHECK(halves.high_use == Approx(0.975));
  CHECK(uses({0.9, 0.8, 0.7, 0.6, 0.5, 0.4}).low.empty());  // no two groups
  CHECK(uses({0.97}).low.empty());
}

TEST_CASE("the power limit, beside the board's own: of the log, else of the card") {
  const auto of = [](std::vector<MonitorSeries> more) {
    std::vector<MonitorSeries> series = {SeriesOf("utilization", {1, 1})};
    for (MonitorSeries& one : more) series.push_back(std::move(one));
    return Summary({{"0", "", "NVIDIA A100-SXM4-80GB", "", series}}).gpus[0];
  };
  const MonitoredUse known = of({SeriesOf("power_limit", {250, 250})});
  CHECK(known.limit == 250);
  CHECK(known.own_limit == 400);
  CHECK(of({SeriesOf("power_default", {300, 300})}).own_limit == 300);
  CHECK(of({}).limit == -1);
}

// A busy GPU with a clock in MHz and a temperature.
MonitoredGpu Clocked(const char* label, std::vector<double> mhz, std::vector<double> celsius) {
  std::vector<double> busy(mhz.size(), 1);
  for (double& one : mhz) one *= 1e6;
  return {label,
          "",
          "",
          "",
          {SeriesOf("utilization", busy), SeriesOf("sm_clock", std::move(mhz)),
           SeriesOf("temperature", std::move(celsius))}};
}

TEST_CASE("a GPU whose clock is far below that of the others is named, with what else differs") {
  const MonitorSummary summary =
      Summary({Clocked("0", {1980, 1980}, {60, 62}), Clocked("1", {1980, 1950}, {61, 61}),
               Clocked("2", {1100, 1200}, {88, 90})});
  CHECK(summary.slow.label == "2");
  CHECK(summary.slow.hz == Approx(1150e6));
  CHECK(summary.slow.others_hz == Approx(1972.5e6));
  CHECK(summary.slow.celsius == Approx(89));
  CHECK(summary.slow.others_celsius == Approx(61));
  CHECK(summary.gpus[2].clock == Approx(1150.0 / 1980));  // over what its neighbors reach
  CHECK(Summary({Clocked("0", {1980, 1980}, {60, 62}), Clocked("1", {1800, 1800}, {70, 70})})
            .slow.label.empty());
  // Half and half: there is no usual clock.
  CHECK(Summary({Clocked("0", {1980}, {60}), Clocked("1", {1980}, {60}), Clocked("2", {990}, {60}),
                 Clocked("3", {990}, {60})})
            .slow.label.empty());
}

TEST_CASE("a clock that falls while the GPU gets hot") {
  const auto falls = [](double mhz, double celsius) {
    return Summary({Clocked("4", {1980, 1980, 1900, 1700, 1600, mhz, mhz, mhz},
                            {60, 60, 70, 80, 85, celsius, celsius, celsius})})
        .falls;
  };
  CHECK(falls(1504, 89).label == "4");
  CHECK(falls(1504, 89).clock == Approx(1504.0 / 1980));
  CHECK(falls(1504, 89).celsius_before == Approx(60));
  CHECK(falls(1504, 89).celsius_after == Approx(89));
  CHECK(falls(1504, 66).label.empty());  // another kind of work, or power
  CHECK(falls(1900, 89).label.empty());
}

TEST_CASE("a link to the host that is full in nearly all samples") {
  const auto uploads = [](double rate, double generation = 0) {
    std::vector<MonitorSeries> series = {SeriesOf("utilization", {0.7, 0.7, 0.7}),
                                         SeriesOf("pcie_rx", {rate, rate, rate})};
    if (generation > 0) {
      series.push_back(SeriesOf("pcie_generation", {generation}));
      series.push_back(SeriesOf("pcie_lanes", {16}));
    }
    return Summary({{"0", "", "", "", series}}).full;
  };
  CHECK(uploads(24.5e9).label == "0");
  CHECK(uploads(24.5e9).link == "PCIe 4.0 x16");
  CHECK(uploads(24.5e9).upload);
  CHECK(uploads(24.5e9, 5).label.empty());  // half of what this one moves
  CHECK(uploads(18e9).label.empty());
  CHECK(uploads(1e9).label.empty());
}

}  // namespace
}  // namespace advise
