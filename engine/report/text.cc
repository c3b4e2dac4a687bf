#include "engine/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "engine/base/text.h"
#include "engine/report/finding_text.h"
#include "engine/report/layout.h"

namespace advise {
namespace {

constexpr int kColumn = 22;                // where the words after "Where the time went" begin
constexpr double kIdleWorthSaying = 0.02;  // layout only: below this the idle line is noise
constexpr std::size_t kCareLines = 4;
constexpr std::size_t kRulesNamed = 3;

struct Part {
  std::string name;
  Nanos ns = 0;
};

// Whole percentages that add up to 100: the largest remainders are rounded up.
std::vector<int> Percentages(const std::vector<Part>& parts) {
  const Nanos total = std::accumulate(parts.begin(), parts.end(), Nanos{0},
                                      [](Nanos sum, const Part& part) { return sum + part.ns; });
  std::vector<int> percent(parts.size());
  if (total <= 0) return percent;
  std::vector<std::pair<double, std::size_t>> remainders;
  int left = 100;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = 100.0 * static_cast<double>(parts[i].ns) / static_cast<double>(total);
    percent[i] = static_cast<int>(exact);
    left -= percent[i];
    remainders.emplace_back(percent[i] - exact, i);
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::size_t k = 0; left > 0 && k < remainders.size(); ++k, --left) {
    ++percent[remainders[k].second];
  }
  return percent;
}

std::vector<Part> BudgetParts(const std::vector<DeviceBudget>& devices) {
  std::vector<Part> parts = {
      {"compute", 0}, {"communication", 0}, {"copies", 0}, {"memsets", 0}, {"idle", 0}};
  for (const DeviceBudget& device : devices) {
    parts[0].ns += device.compute_ns;
    parts[1].ns += device.comm_exposed_ns;
    parts[2].ns += device.copy_exposed_ns;
    parts[3].ns += device.memset_exposed_ns;
    parts[4].ns += device.idle_ns;
  }
  return parts;
}

std::string CauseName(const std::string& cause) {
  static const std::map<std::string, std::string> kNames = {
      {"data_loading", "data loading"},
      {"host_sync", "synchronisation"},
      {"allocation", "memory allocation"},
      {"jit_or_module_load", "compiling or loading code"},
      {"file_io", "file access"},
      {"host_wait", "host blocked in the OS"},
      {"launch", "launching"},
      {"host_compute", "host code"},
      {"peer_wait", "waiting for a peer"},
      {"profiler_overhead", "the profiler itself"},
      {"no_work_queued", "no work queued"}};
  const auto found = kNames.find(cause);
  return found == kNames.end() ? cause : found->second;
}

// The causes of idle time, largest first, as shares of the window.
std::vector<std::string> IdleParts(const std::vector<DeviceBudget>& devices, std::size_t most) {
  std::map<std::string, Nanos> by_cause;
  Nanos window = 0;
  for (const DeviceBudget& device : devices) {
    window += device.window_ns;
    for (const auto& [cause, ns] : device.idle_causes) by_cause[cause] += ns;
  }
  std::vector<std::pair<Nanos, std::string>> order;
  for (const auto& [cause, ns] : by_cause) {
    if (static_cast<double>(ns) >= 0.005 * static_cast<double>(window))
      order.emplace_back(-ns, cause);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
    const double share = static_cast<double>(-order[i].first) / static_cast<double>(window);
    parts.push_back(
        fmt::format("{} {}", CauseName(order[i].second), FormatQuantity(share, "share")));
  }
  return parts;
}

void WriteHeader(Page& page, const Report& report) {
  std::vector<std::string> parts;
  if (!report.inputs.empty()) {
    const std::size_t more = report.inputs.size() - 1;
    parts.push_back(report.inputs.front().path +
                    (more == 0 ? "" : fmt::format(" and {} more", more)));
  }
  std::vector<std::pair<std::string, int>> models;
  std::vector<std::string> names = report.gpus;
  if (!report.devices.empty()) names.clear();
  for (const DeviceBudget& device : report.devices) names.push_back(device.name);
  for (const std::string& given : names) {
    const std::string name = given.empty() ? "GPU" : given;
    const auto known = std::find_if(models.begin(), models.end(),
                                    [&](const auto& model) { return model.first == name; });
    if (known == models.end()) {
      models.emplace_back(name, 1);
    } else {
      ++known->second;
    }
  }
  for (const auto& [name, count] : models) parts.push_back(fmt::format("{} × {}", count, name));
  const double seconds =
      static_cast<double>(report.window.end_ns - report.window.start_ns) / kNanosPerSecond;
  if (seconds > 0) parts.push_back(SecondsText(seconds));
  if (!report.inputs.empty() && !report.inputs.front().producer.empty()) {
    parts.push_back(report.inputs.front().producer);
  }
  if (report.step_count > 0) {
    parts.push_back(fmt::format("{} step{}", report.step_count, report.step_count == 1 ? "" : "s"));
  }
  page.Parts("", 0, parts, "   ");
}

void WriteDeviceTable(Page& page, const Report& report) {
  const bool ranks = std::any_of(
      report.devices.begin(), report.devices.end(),
      [&](const DeviceBudget& device) { return device.rank != report.devices.front().rank; });
  std::vector<std::vector<std::string>> rows;
  for (const DeviceBudget& device : report.devices) {
    const std::vector<int> percent = Percentages(BudgetParts({device}));
    std::vector<std::string> row = {ranks
                                        ? fmt::format("rank {} GPU {}", device.rank, device.device)
                                        : fmt::format("GPU {}", device.device)};
    for (const int value : percent) row.push_back(fmt::format("{} %", value));
    row.push_back(fmt::format("{}", fmt::join(IdleParts({device}, 1), "")));
    rows.push_back(row);
  }
  page.Blank();
  WriteTable(page, {"", "compute>", "comm.>", "copies>", "memsets>", "idle>", "idle mainly from"},
             rows, 2);
}

void WriteBudget(Page& page, const Report& report, bool devices) {
  const std::vector<Part> parts = BudgetParts(report.devices);
  const Nanos total = std::accumulate(parts.begin(), parts.end(), Nanos{0},
                                      [](Nanos sum, const Part& part) { return sum + part.ns; });
  if (total <= 0) return;
  const std::vector<int> percent = Percentages(parts);
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool always = i == 0 || i + 1 == parts.size();
    if (always || percent[i] > 0)
      shown.push_back(fmt::format("{} {} %", parts[i].name, percent[i]));
  }
  page.Parts("Where the time went", kColumn, shown, " | ");
  if (static_cast<double>(parts.back().ns) >= kIdleWorthSaying * static_cast<double>(total)) {
    const std::vector<std::string> idle = IdleParts(report.devices, 4);
    if (!idle.empty()) page.Parts("Idle because of", kColumn, idle, " | ");
  }
  if (!devices && report.devices.size() > 1) {
    page.Labelled("", 0, kColumn, "(average of the GPUs; each of them: --devices)", Ink::kDim);
  }
}

void WriteCare(Page& page, const Report& report) {
  std::vector<std::string> lines = report.read_with_care;
  for (const Diagnostic& item : report.diagnostics) {
    const bool said = std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(item.text) != std::string::npos;
    });
    if (item.level == Level::kInfo || said) continue;
    lines.push_back(item.count > 1 ? fmt::format("{} ({} times)", item.text, item.count)
                                   : item.text);
  }
  std::string label = "Read with care";
  for (std::size_t i = 0; i < std::min(lines.size(), kCareLines); ++i) {
    page.Labelled(label, 0, kColumn, lines[i], Ink::kYellow);
    label.clear();
  }
  if (lines.size() > kCareLines) {
    page.Labelled(
        "", 0, kColumn,
        fmt::format("and {} more (all of them: --format json)", lines.size() - kCareLines));
  }
  label = "Changed by the site";
  for (const std::string& change : report.site_changes) {
    page.Labelled(label, 0, kColumn, change);
    label.clear();
  }
}

void WriteNotChecked(Page& page, const Report& report) {
  if (report.not_checked.empty()) return;
  // One line a reason: what is missing matters to the reader, the rules are named for searching.
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const NotChecked& item : report.not_checked) {
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return group.first == item.reason; });
    if (known == groups.end()) {
      groups.push_back({item.reason, {item.rule}});
    } else if (std::find(known->second.begin(), known->second.end(), item.rule) ==
               known->second.end()) {
      known->second.push_back(item.rule);
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  page.Blank();
  std::string label = "Could not be checked";
  for (const auto& [reason, rules] : groups) {
    std::vector<std::string> named(
        rules.begin(),
        rules.begin() + static_cast<std::ptrdiff_t>(std::min(kRulesNamed, rules.size())));
    if (rules.size() > kRulesNamed) named.emplace_back("…");
    page.Labelled(label, 0, kColumn,
                  fmt::format("{} rule{} ({}){}{}", rules.size(), rules.size() == 1 ? "" : "s",
                              fmt::join(named, ", "), reason.empty() ? "" : ": ", reason));
    label.clear();
  }
  if (!report.capture_command.empty()) {
    page.Labelled("→", kColumn - 2, kColumn, "capture again with:");
    page.Line("  " + page.Paint(report.capture_command, Ink::kPlain));
  }
}

void WriteFindings(Page& page, const Report& report, const TextOptions& options) {
  std::vector<const Finding*> advice;
  std::vector<const Finding*> good_to_know;
  for (const Finding& finding : report.findings) {
    // A symptom stands under the cause that explains it.
    if (!finding.explained_by.empty()) continue;
    (finding.severity == Severity::kInfo ? good_to_know : advice).push_back(&finding);
  }
  const auto full = options.quiet ? 0 : static_cast<std::size_t>(std::max(0, options.top));
  for (std::size_t i = 0; i < advice.size(); ++i) {
    if (i < full || i == full) page.Blank();
    if (i < full) {
      WriteFinding(page, report, *advice[i], options);
    } else {
      WriteFindingLine(page, *advice[i]);
    }
  }
  if (options.quiet || good_to_know.empty()) return;
  page.Blank();
  std::string label = "Good to know";
  for (const Finding* finding : good_to_know) {
    const std::string id = finding->rule == nullptr ? "" : " (" + finding->rule->id + ")";
    const std::string words = !finding->symptom.empty()  ? finding->symptom
                              : finding->rule != nullptr ? finding->rule->title
                                                         : "";
    page.Labelled(label, 0, kColumn, words + id);
    label.clear();
  }
}

}  // namespace

std::string RenderText(const Report& report, const TextOptions& options) {
  Page page(options.width, options.color);
  if (!options.quiet) {
    WriteHeader(page, report);
    page.Blank();
  }
  if (!report.verdict.empty()) page.Wrapped(report.verdict, 0, Ink::kBold);
  if (!report.no_verdict_reason.empty() &&
      report.verdict.find(report.no_verdict_reason) == std::string::npos) {
    page.Wrapped("No verdict: " + report.no_verdict_reason, 0, Ink::kYellow);
  }
  if (report.healthy) {
    page.Wrapped(fmt::format("Healthy: {} rules were checked and none found anything to fix.",
                             report.checked),
                 0, Ink::kGreen);
  }
  if (!options.quiet) {
    page.Blank();
    WriteBudget(page, report, options.devices);
    WriteCare(page, report);
    if (options.devices) WriteDeviceTable(page, report);
  }
  WriteFindings(page, report, options);
  if (!options.quiet) WriteNotChecked(page, report);
  return page.text();
}

}  // namespace advise
