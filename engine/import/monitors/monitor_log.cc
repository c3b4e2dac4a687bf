#include "engine/import/monitors/monitor_log.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/import/text_input.h"

namespace advise {
namespace {

// Rows without a clock stand before all times until it is known whether the log has one.
double MarkOfRow(std::int64_t row) { return -1 - static_cast<double>(row); }
double RowOf(double mark) { return -1 - mark; }

// Leaves out the samples without a time.
void DropMarked(MonitorSeries* series) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < series->time_s.size(); ++i) {
    if (series->time_s[i] < 0) continue;
    series->time_s[kept] = series->time_s[i];
    series->value[kept++] = series->value[i];
  }
  series->time_s.resize(kept);
  series->value.resize(kept);
}

// "2" before "10", words after numbers.
bool ByNumber(const std::string& a, const std::string& b) {
  const auto x = NumberOf(a);
  const auto y = NumberOf(b);
  if (x && y && *x != *y) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a < b;
}

}  // namespace

void MonitorLog::Name(const std::string& gpu, const std::string& name, const std::string& uuid) {
  MonitoredGpu& entry = gpus_[gpu];
  entry.label = gpu;
  if (!name.empty()) entry.name = name;
  if (!uuid.empty()) entry.uuid = uuid;
}

void MonitorLog::Add(const std::string& gpu, const MonitorQuantity& quantity, double time_s,
                     double value) {
  MonitoredGpu& entry = gpus_[gpu];
  entry.label = gpu;
  auto found = std::find_if(entry.series.begin(), entry.series.end(),
                            [&](const MonitorSeries& s) { return s.quantity == quantity.name; });
  if (found == entry.series.end()) {
    entry.series.push_back({std::string(quantity.name), std::string(quantity.unit), {}, {}});
    found = std::prev(entry.series.end());
  }
  if (!found->time_s.empty() && found->time_s.back() == time_s) {
    found->value.back() = std::max(found->value.back(), value);
    return;
  }
  found->time_s.push_back(time_s);
  found->value.push_back(value);
}

double MonitorLog::Moment(const std::string& series, std::optional<double> clock) {
  const std::int64_t row = samples_[series]++;
  has_clock_ = has_clock_ || clock.has_value();
  without_clock_ += clock ? 0 : 1;
  return clock ? std::max(0.0, *clock) : MarkOfRow(row);
}

void MonitorLog::AddCell(const std::string& gpu, const MonitorQuantity& quantity, double time_s,
                         std::string_view cell, std::string_view unit) {
  const auto number = NumberOf(cell);
  if (IsNoValue(cell) || (number && IsBlankNumber(*number))) {
    trace_->diagnostics.Add(Level::kInfo, "values that the driver did not give were left out");
    return;
  }
  const auto value = !number        ? std::nullopt
                     : unit.empty() ? std::optional(*number * quantity.scale)
                                    : InUnit(*number, unit, quantity.unit);
  if (value) {
    Add(gpu, quantity, time_s, *value);
  } else {
    trace_->diagnostics.Add(Level::kWarning, "cells without a number were left out");
  }
}

void MonitorLog::AddReasons(const std::string& gpu, double time_s, std::uint64_t bits) {
  constexpr std::uint64_t kPower = 0x4, kBrake = 0x80, kHardware = 0x8, kHeat = 0x20 | 0x40;
  const auto add = [&](const MonitorQuantity& quantity, std::uint64_t of) {
    Add(gpu, quantity, time_s, (bits & of) != 0 ? 1 : 0);
  };
  add(kByPower, kPower);
  add(kByBrake, kBrake);
  add(kByHeat, kHeat);
  add(kByHardware, kHardware);
}

void MonitorLog::Lose(const std::string& gpu, std::optional<double> clock) {
  gpus_[gpu].label = gpu;
  lost_.emplace(gpu, clock);
}

std::vector<std::string> MonitorLog::Labels() const {
  std::vector<std::string> labels;
  for (const auto& [label, gpu] : gpus_) labels.push_back(label);
  return labels;
}

void MonitorLog::Rename(const std::string& gpu, const std::string& label) {
  auto entry = gpus_.extract(gpu);
  if (entry.empty()) return;
  entry.key() = label;
  entry.mapped().label = label;
  gpus_.insert(std::move(entry));
}

void MonitorLog::SkipRow() {
  trace_->diagnostics.Add(Level::kWarning,
                          "rows with another number of cells than the header were skipped");
}

// Gives each sample its time: by the clock, or where there is none, the number of its row.
void MonitorLog::Settle() {
  for (auto& [label, gpu] : gpus_) {
    for (MonitorSeries& series : gpu.series) {
      if (!has_clock_) {
        for (double& time : series.time_s) time = RowOf(time);
      } else {
        DropMarked(&series);
      }
    }
    std::erase_if(gpu.series, [](const MonitorSeries& s) { return s.time_s.empty(); });
  }
  if (has_clock_ && without_clock_ > 0) {
    trace_->diagnostics.Add(Level::kWarning, "rows whose time cannot be read were left out", "",
                            without_clock_);
  }
}

std::int64_t MonitorLog::Finish() {
  Settle();
  double first = std::numeric_limits<double>::max();
  for (const auto& [label, gpu] : gpus_) {
    for (const MonitorSeries& series : gpu.series) {
      for (const double time : series.time_s) first = std::min(first, time);
    }
  }
  for (auto& [label, gpu] : gpus_) {
    for (MonitorSeries& series : gpu.series) {
      for (double& time : series.time_s) time -= first;
    }
    if (const auto lost = lost_.find(label); lost != lost_.end())
      gpu.lost_s = lost->second ? std::max(0.0, *lost->second - first) : 0;
    Device device;
    device.name = gpu.name;
    if (label.find("instance ") != std::string::npos)
      device.name += std::string(gpu.name.empty() ? "" : " ") + "MIG instance";
    device.uuid = gpu.uuid;
    device.ordinal = WholeOf<std::int64_t>(NumberOf(label).value_or(0));
    trace_->devices.push_back(std::move(device));
    trace_->monitor.gpus.push_back(std::move(gpu));
  }
  std::sort(
      trace_->monitor.gpus.begin(), trace_->monitor.gpus.end(),
      [](const MonitoredGpu& a, const MonitoredGpu& b) { return ByNumber(a.label, b.label); });
  trace_->monitor.has_clock = has_clock_;
  // In the time zone of the machine, where the log does not name one. Less is a time of a day.
  constexpr double kEarliest = 1e9;
  if (has_clock_ && first > kEarliest && first < 1e10)
    trace_->utc_origin_ns = std::llround(first * kNanosPerSecond);
  trace_->table_rows["rows"] = rows_;
  gpus_.clear();
  return rows_;
}

}  // namespace advise
