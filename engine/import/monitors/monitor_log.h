// What the readers of monitor logs share: our names of their quantities, units, and the table of
// GPUs that they fill.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/trace/tables.h"

namespace advise {

// A quantity under our name, in our unit. Share: 0 to 1.
struct MonitorQuantity {
  std::string_view name;
  std::string_view unit;  // DCGM's "violation" and "reasons" are turned into shares by its reader
  double scale = 1;       // from what the tool prints without a unit to ours
};

// By the tool's own word, in lower case, without unit; nullptr when we have no use for it.
const MonitorQuantity* SmiQuantity(std::string_view field);    // "utilization.gpu"
const MonitorQuantity* DmonQuantity(std::string_view column);  // "sm", "pwr"
const MonitorQuantity* AmdQuantity(std::string_view name);     // "gfx%", "gpu use (%)"
const MonitorQuantity* DcgmQuantity(
    std::string_view short_name);  // "GRACT", "DCGM_FI_DEV_GPU_UTIL", "203"

// A value with the unit that stands beside it ("%", "MiB", "W", "MHz"), in `unit`; nothing for a
// pair that does not fit.
std::optional<double> InUnit(double value, std::string_view printed, std::string_view unit);

// "[N/A]", "-", "[Not Supported]", "ERR!" …: the tool had no value.
bool IsNoValue(std::string_view cell);
// DCGM's marks of a blank, which look like numbers.
bool IsBlankNumber(double value);

// Collects samples by GPU; GPUs come out in the order of their numbers. What readers of logs must
// leave out is counted in the trace's diagnostics in the same words for all of them.
class MonitorLog {
 public:
  explicit MonitorLog(Trace* trace) : trace_(trace) {}

  void Name(const std::string& gpu, const std::string& name, const std::string& uuid);
  // The time of the next row of `series` (a GPU, or one of its quantities): `clock`, or the row's
  // number where the log has no clock.
  double Moment(const std::string& series, std::optional<double> clock);
  // A cell as it was printed, with the unit that stands beside it or in its header ("" without).
  void AddCell(const std::string& gpu, const MonitorQuantity& quantity, double time_s,
               std::string_view cell, std::string_view unit);
  // Several values of one moment (flags of one kind in several columns): the largest is kept.
  void Add(const std::string& gpu, const MonitorQuantity& quantity, double time_s, double value);
  // The driver's bits for what throttles the clocks.
  void AddReasons(const std::string& gpu, double time_s, std::uint64_t bits);
  void AddRow() { ++rows_; }
  void SkipRow();  // one of another width than its header

  // Hands everything to the trace; times count from the first sample. Returns the number of rows.
  std::int64_t Finish();

 private:
  Trace* trace_;
  std::map<std::string, MonitoredGpu> gpus_;
  std::map<std::string, std::int64_t> samples_;
  std::int64_t rows_ = 0;
  bool has_clock_ = false;
};

}  // namespace advise
