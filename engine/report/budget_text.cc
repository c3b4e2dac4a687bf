#include "engine/report/budget_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "engine/base/text.h"
#include "engine/trace/idle_cause.h"

namespace advise {

std::vector<int> Percentages(const std::vector<BudgetPart>& parts) {
  const Nanos total =
      std::accumulate(parts.begin(), parts.end(), Nanos{0},
                      [](Nanos sum, const BudgetPart& part) { return sum + part.ns; });
  std::vector<int> percent(parts.size());
  if (total <= 0) return percent;
  int left = 100;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double share = static_cast<double>(parts[i].ns) / static_cast<double>(total);
    percent[i] = static_cast<int>(std::lround(100 * share));
    left -= percent[i];
  }
  // Sentences quote the other parts as they are; the first takes what rounding leaves over.
  const bool room = percent[0] + left >= 0;
  *(room ? percent.begin() : std::max_element(percent.begin(), percent.end())) += left;
  return percent;
}

std::vector<BudgetPart> BudgetParts(const std::vector<DeviceBudget>& devices) {
  std::vector<BudgetPart> parts = {
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

std::string IdleCauseLabel(const std::string& cause) {
  const IdleCauseWords* words = WordsOfIdleCause(cause);
  return words == nullptr ? cause : words->label;
}

std::vector<std::string> IdleParts(const Report& report, const std::vector<DeviceBudget>& devices,
                                   std::size_t most) {
  const std::string unknown = IdleCauseLabel("unknown");
  const std::string host = HasCare(report, Care::kRequestsLikeCode)
                               ? "requests or host code"
                               : IdleCauseLabel("host_compute");
  std::map<std::string, Nanos> by_words;
  Nanos window = 0;
  for (const DeviceBudget& device : devices) {
    window += device.window_ns;
    for (const auto& [cause, ns] : device.idle_causes)
      by_words[cause == "host_compute" ? host : IdleCauseLabel(cause)] += ns;
    // What is known of the time without a cause.
    for (const auto& [words, ns] : {std::pair{"earlier work", device.unseen.before_capture},
                                    std::pair{"gaps inside graphs", device.unseen.in_graphs},
                                    std::pair{"unrecorded waits", device.unseen.queued}}) {
      by_words[words] += ns;
      by_words[unknown] -= ns;
    }
  }
  std::vector<std::pair<Nanos, std::string>> order;
  for (const auto& [words, ns] : by_words) {
    if (static_cast<double>(ns) >= 0.005 * static_cast<double>(window))
      order.emplace_back(-ns, words);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
    const double share = static_cast<double>(-order[i].first) / static_cast<double>(window);
    parts.push_back(fmt::format("{} {}", order[i].second, FormatQuantity(share, "share")));
  }
  return parts;
}

}  // namespace advise
