// What monitors call the quantities of a GPU, our names and units for them, and their marks of
// values that they do not have.
#pragma once

#include <optional>
#include <string_view>

namespace advise {

// A quantity under our name, in our unit. Share: 0 to 1.
struct MonitorQuantity {
  std::string_view name;
  std::string_view unit;  // DCGM's "violation" and "reasons" are turned into shares by its reader
  double scale = 1;       // from what the tool prints without a unit to ours
};

// Whether the clocks are held down, and by what.
inline constexpr MonitorQuantity kByPower{"throttle_power", "share", 1};
inline constexpr MonitorQuantity kByHeat{"throttle_thermal", "share", 1};
// By a signal from outside of the board: the power supply is overloaded.
inline constexpr MonitorQuantity kByBrake{"throttle_brake", "share", 1};
inline constexpr MonitorQuantity kByHardware{"throttle_hardware", "share", 1};

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
// "[GPU is lost]": the driver does not reach the GPU any more.
bool IsOfLostGpu(std::string_view cell);
// DCGM's marks of a blank, which look like numbers.
bool IsBlankNumber(double value);

}  // namespace advise
