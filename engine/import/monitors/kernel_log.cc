// Reads what the kernel logs of GPUs and of memory that ran out (dmesg, journalctl -k,
// /var/log/messages), with other lines in between:
//
//   [Fri Aug 30 11:43:09 2024] NVRM: Xid (PCI:0000:cb:00): 79, pid=4242, GPU has fallen off the …
//
//   [ 5213.4] Out of memory: Killed process 4242 (python) total-vm:…
//
//   [ 5214.1] nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 28 LTSSM Fault Up
//
//   [ 5214.2] mlx5_core 0000:17:00.0: Port module event: module 0, Cable unplugged
//
//   [ 5214.3] pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3b:00.0
#include <algorithm>
#include <optional>
#include <string>

#include "engine/import/formats.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

struct XidLine {
  std::string gpu;  // its PCI address
  std::string_view code;
};

// "NVRM: Xid (PCI:0000:cb:00): 13, …"; old drivers wrote no "PCI:".
std::optional<XidLine> XidOf(std::string_view line) {
  constexpr std::string_view kBegin = "NVRM: Xid (";
  const std::size_t at = line.find(kBegin);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + kBegin.size());
  if (rest.starts_with("PCI:")) rest.remove_prefix(4);
  const std::size_t close = rest.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view address = rest.substr(0, close);
  const bool is_address =
      std::count(address.begin(), address.end(), ':') == 2 &&
      std::all_of(address.begin(), address.end(), [](char c) { return IsHexDigit(c) || c == ':'; });
  rest.remove_prefix(close + 3);
  std::size_t digits = 0;
  while (digits < rest.size() && IsDigit(rest[digits])) ++digits;
  if (!is_address || digits == 0 || digits > 4) return std::nullopt;
  return XidLine{std::string(address), rest.substr(0, digits)};
}

// "… Out of memory: Killed process 4242 (python) …", also of a control group: the program's name.
std::optional<std::string_view> KilledOf(std::string_view line) {
  std::string_view rest;
  for (const std::string_view begin :
       {"Out of memory: Killed process ", "Memory cgroup out of memory: Killed process ",
        "Out of memory: Kill process "}) {
    const std::size_t at = line.find(begin);
    if (at != std::string_view::npos) rest = line.substr(at + begin.size());
  }
  if (rest.empty() || !IsDigit(rest[0])) return std::nullopt;
  const std::size_t open = rest.find('('), close = rest.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  return rest.substr(open + 1, close - open - 1);
}

// "… nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 28 LTSSM Fault Up".
std::optional<LinkEvent> SwitchEventOf(std::string_view line) {
  constexpr std::string_view kDriver = "nvidia-nvswitch", kBegin = ": SXid (PCI:";
  const std::size_t driver = line.find(kDriver), at = line.find(kBegin);
  if (driver == std::string_view::npos || at == std::string_view::npos || at < driver)
    return std::nullopt;
  const std::string_view number =
      line.substr(driver + kDriver.size(), at - driver - kDriver.size());
  const std::size_t close = line.find("): ", at);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view told = Trimmed(line.substr(close + 3));
  if (told.empty() || !IsDigit(told[0])) return std::nullopt;
  // The driver adds lines of raw data under the same number.
  if (told.find(", Severity ") != std::string_view::npos ||
      told.find(", Data {") != std::string_view::npos)
    return std::nullopt;
  const bool harmless = told.find("Non-fatal") != std::string_view::npos ||
                        told.find("Non-Fatal") != std::string_view::npos;
  return LinkEvent{LinkEvent::Kind::kSwitch,
                   "NVSwitch" + (number.empty() ? "" : " " + std::string(number)),
                   "SXid " + std::string(told), !harmless};
}

// The word before "what", without its colon: "mlx5_core 0000:17:00.0: Port module event: …".
std::string DeviceBefore(std::string_view line, std::size_t at) {
  const auto words = WordsOf(line.substr(0, at));
  std::string_view address = words.empty() ? std::string_view() : words.back();
  if (address.ends_with(':')) address.remove_suffix(1);
  const std::string_view driver = words.size() < 2 ? std::string_view() : words[words.size() - 2];
  return (driver.starts_with("mlx") ? std::string(driver) + " " : "") + std::string(address);
}

// A cable or a transceiver of a network card.
std::optional<LinkEvent> PortEventOf(std::string_view line) {
  const std::size_t at = line.find("Port module event");
  if (at == std::string_view::npos || line.find("mlx") == std::string_view::npos)
    return std::nullopt;
  const std::string_view told =
      Trimmed(line.substr(std::min(line.find(": ", at) + 2, line.size())));
  const bool unplugged = told.find("unplugged") != std::string_view::npos;
  const bool error = told.find("rror") != std::string_view::npos ||
                     told.find("igh temperature") != std::string_view::npos;
  if (!unplugged && !error) return std::nullopt;
  return LinkEvent{LinkEvent::Kind::kPort, DeviceBefore(line, at), std::string(told), true};
}

// "pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3b:00.0"; older kernels write
// "AER: Multiple Uncorrected (Fatal) error received".
std::optional<LinkEvent> PcieEventOf(std::string_view line) {
  const std::size_t at = line.find("AER: ");
  const std::size_t received = line.find(" error received: ");
  if (at == std::string_view::npos || received == std::string_view::npos || received < at)
    return std::nullopt;
  const auto words = WordsOf(line.substr(received + 17));
  if (words.empty()) return std::nullopt;
  const std::string_view which = line.substr(at + 5, received - at - 5);
  const bool corrected = which.find("Corrected") != std::string_view::npos &&
                         which.find("Uncorrected") == std::string_view::npos;
  return LinkEvent{LinkEvent::Kind::kPcie, std::string(words[0]),
                   corrected ? "a PCIe error that was corrected" : "a PCIe error: " + Lower(which),
                   !corrected};
}

std::optional<LinkEvent> LinkEventOf(std::string_view line) {
  if (auto of_switch = SwitchEventOf(line)) return of_switch;
  if (auto of_port = PortEventOf(line)) return of_port;
  return PcieEventOf(line);
}

// "[    9.112233] nvidia: …", "[Fri Aug 30 11:43:09 2024] …": as dmesg writes each line.
bool IsOfDmesg(std::string_view line) {
  const std::size_t close = line.find("] ");
  if (!line.starts_with("[") || close == std::string_view::npos) return false;
  const std::string_view stamp = Trimmed(line.substr(1, close - 1));
  const bool seconds = stamp.find('.') != std::string_view::npos && NumberOf(stamp).has_value();
  return seconds || (stamp.find(':') != std::string_view::npos && TimestampOf(stamp).has_value());
}

// All lines are so; the last may be cut.
bool IsDmesg(std::string_view text) {
  std::size_t lines = 0;
  for (const std::string_view line : LinesOf(text.substr(0, text.rfind('\n')))) {
    if (Trimmed(line).empty()) continue;
    if (!IsOfDmesg(line)) return false;
    ++lines;
  }
  return lines > 0 && (text.find("nvidia") != std::string_view::npos ||
                       text.find("NVRM") != std::string_view::npos ||
                       text.find("amdgpu") != std::string_view::npos);
}

}  // namespace

bool SniffKernelLog(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\n");
  // Pages and code may quote such lines.
  constexpr std::string_view kPages = "{#<|\"";
  if (first == std::string_view::npos || kPages.find(head[first]) != std::string_view::npos)
    return false;
  if (IsDmesg(head)) return true;
  const auto lines = LinesOf(head);
  return std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    const bool stamped = line.starts_with("[") ||
                         line.find(" kernel: ") != std::string_view::npos ||
                         line.starts_with("NVRM: ");
    return stamped &&
           (XidOf(line).has_value() || KilledOf(line).has_value() || LinkEventOf(line).has_value());
  });
}

std::optional<Error> ReadKernelLog(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = "the kernel";
  Monitor& monitor = trace->monitor;
  monitor.kernel_log = true;
  for (const std::string_view line : LinesOf(text)) {
    if (const auto xid = XidOf(line)) {
      monitor.errors.push_back({xid->gpu, WholeOf<int>(NumberOf(xid->code).value_or(0))});
    } else if (const auto killed = KilledOf(line)) {
      monitor.killed.emplace_back(*killed);
    } else if (auto event = LinkEventOf(line)) {
      monitor.links.push_back(std::move(*event));
    }
  }
  const std::size_t found = monitor.errors.size() + monitor.killed.size() + monitor.links.size();
  if (found == 0 && !IsDmesg(text))
    return Error{"the Linux kernel log holds no GPU error", path, "was it cut off?"};
  trace->table_rows["rows"] = static_cast<std::int64_t>(found);
  return std::nullopt;
}

}  // namespace advise
