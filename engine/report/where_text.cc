#include "engine/report/where_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "engine/base/text.h"
#include "engine/report/finding_text.h"

namespace advise {
namespace {

constexpr std::size_t kRangesListed = 6;
constexpr std::size_t kRangesOfMany = 3;
constexpr double kMost = 0.5;  // layout only: of the steps

// {"3–7", "9"}: runs of neighbors as ranges.
std::vector<std::string> NumberRanges(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (last > i + 1) {
      ranges.push_back(fmt::format("{}–{}", numbers[i], numbers[last]));
    } else {
      for (std::size_t k = i; k <= last; ++k) ranges.push_back(std::to_string(numbers[k]));
    }
    i = last + 1;
  }
  return ranges;
}

std::string NumberList(const std::vector<int>& numbers) {
  return fmt::format("{}", fmt::join(NumberRanges(numbers), ", "));
}

// "steps 3–7, 9"; of many, the first of them. What was seen says how many it is about.
std::string StepList(const std::string& unit, const std::vector<int>& steps) {
  std::vector<std::string> ranges = NumberRanges(steps);
  if (ranges.size() <= kRangesListed) {
    return (steps.size() > 1 ? unit : unit.substr(0, unit.size() - 1)) + " " +
           fmt::format("{}", fmt::join(ranges, ", "));
  }
  ranges.resize(kRangesOfMany);
  return fmt::format("{} {} and others", unit, fmt::join(ranges, ", "));
}

}  // namespace

bool IsOfSomeRanks(const Report& report, const Where& where) {
  std::set<int> all_ranks;
  for (const DeviceBudget& device : report.devices) all_ranks.insert(device.rank);
  return !where.ranks.empty() && where.ranks.size() < all_ranks.size();
}

std::string WhereText(const Report& report, const Where& where) {
  std::vector<std::string> parts;
  if (IsOfSomeRanks(report, where)) {
    parts.push_back((where.ranks.size() > 1 ? "ranks " : "rank ") + NumberList(where.ranks));
  }
  // Each of several ranks may see but one GPU, and call it 0.
  const bool all_ranks = where.ranks.size() > 1 && !IsOfSomeRanks(report, where);
  if (!all_ranks && !where.devices.empty() && where.devices.size() < report.devices.size()) {
    parts.push_back((where.devices.size() > 1 ? "GPUs " : "GPU ") + NumberList(where.devices));
  }
  if (where.in_turns) parts.emplace_back("each rank in different " + StepsInWords(report.run));
  // Most of them are no place.
  const std::set<int> steps(where.steps.begin(), where.steps.end());
  const bool some = static_cast<double>(steps.size()) <= kMost * report.step_count;
  if (!where.steps.empty() && some) {
    // Numbers count what came before the window, and the number of steps does not.
    const bool beyond = *steps.rbegin() >= report.step_count;
    parts.push_back(StepList(StepsInWords(report.run), where.steps) +
                    (beyond ? " (counted from the first one recorded)" : ""));
  }
  if (!where.phase.empty()) parts.push_back(where.phase + " phase");
  if (parts.empty() && !where.figures.empty()) parts.emplace_back("all ranks");
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (!where.figures.empty()) text += "; the numbers are from " + where.figures;
  return text;
}

}  // namespace advise
