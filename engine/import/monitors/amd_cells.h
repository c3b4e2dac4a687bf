// Names and cells that AMD's monitors write alike, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/import/monitors/monitor_log.h"

namespace advise {

// In UTF-8.
inline constexpr std::string_view kDegreeSign = "\xC2\xB0";

// The quantity of a column, a line or a key: by its whole name, or by what stands before a sensor's
// name; nullptr when we have no use for it.
const MonitorQuantity* AmdQuantityOf(std::string_view name);

// Which GPU: "0" of "0" and of "card0"; nothing for other words.
std::optional<std::string> AmdGpuOf(std::string_view cell);

// Whether this name, in lower case, stands for the GPU's product.
bool IsAmdProduct(std::string_view name);

// A cell as it was printed, such as "182 W", "(800Mhz)" or "0.3/192.0 GB", under its name in lower
// case. Names without a quantity are left out.
void AddAmdCell(const std::string& gpu, const std::string& name, double when,
                const std::string& cell, MonitorLog* log);

}  // namespace advise
