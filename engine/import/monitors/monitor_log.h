// What the readers of monitor logs share: the table of GPUs that they fill.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/import/monitors/monitor_quantity.h"
#include "engine/trace/tables.h"

namespace advise {

// Collects samples by GPU; GPUs come out in the order of their numbers. What readers of logs must
// leave out is counted in the trace's diagnostics in the same words for all of them.
class MonitorLog {
 public:
  explicit MonitorLog(Trace* trace) : trace_(trace) {}

  void Name(const std::string& gpu, const std::string& name, const std::string& uuid);
  // The time of the next row of `series` (a GPU, or one of its quantities): `clock`, or a mark that
  // Finish replaces by the row's number where the log has no clock at all. In a log with a clock,
  // rows whose time cannot be read are left out.
  double Moment(const std::string& series, std::optional<double> clock);
  // A cell as it was printed, with the unit that stands beside it or in its header ("" without).
  void AddCell(const std::string& gpu, const MonitorQuantity& quantity, double time_s,
               std::string_view cell, std::string_view unit);
  // Several values of one moment (flags of one kind in several columns): the largest is kept.
  void Add(const std::string& gpu, const MonitorQuantity& quantity, double time_s, double value);
  // The driver's bits for what throttles the clocks.
  void AddReasons(const std::string& gpu, double time_s, std::uint64_t bits);
  // The driver does not reach the GPU at this time of the clock, if there is one; the first counts.
  void Lose(const std::string& gpu, std::optional<double> clock);
  // What GPUs are called so far.
  std::vector<std::string> Labels() const;
  // Leaves out all that was said of a GPU; false where nothing was.
  bool Leave(const std::string& gpu) { return gpus_.erase(gpu) > 0; }
  void Rename(const std::string& gpu, const std::string& label);
  void AddRow() { ++rows_; }
  void SkipRow();  // one of another width than its header

  // Hands everything to the trace; times count from the first sample. Returns the number of rows.
  std::int64_t Finish();

 private:
  void Settle();

  Trace* trace_;
  std::map<std::string, MonitoredGpu> gpus_;
  std::map<std::string, std::int64_t> samples_;
  std::map<std::string, std::optional<double>> lost_;  // GPUs, and since when
  std::int64_t rows_ = 0;
  std::int64_t without_clock_ = 0;  // rows
  bool has_clock_ = false;
};

}  // namespace advise
