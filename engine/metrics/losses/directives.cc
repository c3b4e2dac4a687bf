#include "engine/metrics/losses/directives.h"

#include <algorithm>
#include <map>

namespace advise {
namespace {

constexpr std::string_view kDomain = "OpenACC";

// Of the domain's name; kNone where no range is of it.
StringId DomainOf(const Trace& trace) {
  StringId last = kNone;
  for (const StringId domain : trace.ranges.domain) {
    if (domain == last) continue;
    last = domain;
    if (trace.strings[domain] == kDomain) return domain;
  }
  return kNone;
}

// The innermost range of the domain around the call, kNone. Ranges of a thread nest.
std::uint32_t Around(const Trace& trace, StringId domain, std::uint32_t call) {
  const RangeTable& ranges = trace.ranges;
  const std::uint32_t thread = trace.calls.thread[call];
  const auto first =
      std::lower_bound(ranges.thread.begin(), ranges.thread.end(), thread) - ranges.thread.begin();
  const auto last =
      std::upper_bound(ranges.thread.begin(), ranges.thread.end(), thread) - ranges.thread.begin();
  auto row = std::upper_bound(ranges.start.begin() + first, ranges.start.begin() + last,
                              trace.calls.start[call]) -
             ranges.start.begin();
  constexpr int kSiblings = 64;  // that may end before the call within one directive
  for (int i = 0; row > first && i < kSiblings; ++i) {
    --row;
    if (ranges.domain[row] == domain && ranges.end[row] >= trace.calls.end[call])
      return static_cast<std::uint32_t>(row);
  }
  return kNone;
}

}  // namespace

std::string DirectiveOf(const Trace& trace, const WeighedCalls& calls) {
  const StringId domain = DomainOf(trace);
  if (domain == kNone) return "";
  std::map<StringId, double> weights;
  for (const auto& [call, weight] : calls) {
    const std::uint32_t row = Around(trace, domain, call);
    if (row != kNone) weights[trace.ranges.name[row]] += weight;
  }
  const auto most =
      std::max_element(weights.begin(), weights.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == weights.end() ? "" : trace.strings[most->first];
}

}  // namespace advise
