#include "engine/import/monitors/amd_cells.h"

#include <algorithm>
#include <utility>

#include "engine/import/text_input.h"

namespace advise {
namespace {

// "182 W", "48.0°C", "(800Mhz)", "1: (800Mhz)", "25": the number and the unit behind it.
std::pair<std::string, std::string> NumberAndUnit(std::string_view cell) {
  const std::size_t open = cell.find('(');
  const std::size_t close = cell.rfind(')');
  if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
    cell = cell.substr(open + 1, close - open - 1);
  }
  const std::size_t end = std::min(cell.find_first_not_of("0123456789.-+"), cell.size());
  std::string_view unit = Trimmed(cell.substr(end));
  if (unit.starts_with(kDegreeSign)) unit.remove_prefix(kDegreeSign.size());
  return {std::string(cell.substr(0, end)), std::string(unit)};
}

}  // namespace

const MonitorQuantity* AmdQuantityOf(std::string_view name) {
  if (const MonitorQuantity* quantity = AmdQuantity(name)) return quantity;
  return AmdQuantity(name.substr(0, name.find(" (")));
}

std::optional<std::string> AmdGpuOf(std::string_view cell) {
  if (cell.starts_with("card")) cell.remove_prefix(4);
  const bool digits =
      !cell.empty() && cell.find_first_not_of("0123456789") == std::string_view::npos;
  return digits ? std::optional(std::string(cell)) : std::nullopt;
}

bool IsAmdProduct(std::string_view name) {
  return name == "card series" || name == "device name" || name == "market_name" ||
         name == "asic.market_name";
}

void AddAmdCell(const std::string& gpu, const std::string& name, double when,
                const std::string& cell, MonitorLog* log) {
  if (name == "vram_usage") {  // "0.3/192.0 GB"
    const std::size_t slash = cell.find('/');
    if (slash == std::string::npos) return;
    AddAmdCell(gpu, "vram_used", when, cell.substr(0, slash) + " GB", log);
    AddAmdCell(gpu, "vram_total", when, std::string(Trimmed(cell.substr(slash + 1))), log);
    return;
  }
  const MonitorQuantity* quantity = AmdQuantityOf(name);
  if (quantity == nullptr) return;
  if (name == "throttle") {
    if (cell == "THROTTLED" || cell == "UNTHROTTLED") {
      log->Add(gpu, *quantity, when, cell == "THROTTLED" ? 1 : 0);
    }
    return;
  }
  auto [number, unit] = NumberAndUnit(cell);
  // amd-smi's CSV has whole MB, or GB with a decimal where nothing was asked for.
  if (unit.empty() && name.starts_with("vram_") && number.find('.') != std::string::npos) {
    unit = "GB";
  }
  log->AddCell(gpu, *quantity, when, number.empty() ? cell : number, unit);
}

}  // namespace advise
