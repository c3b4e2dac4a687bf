// The words and numbers that all pages of a comparison share.
#pragma once

#include <string>
#include <vector>

#include "engine/compare/compare.h"

namespace advise {

std::string CompareTime(double ns);                           // "61.0 ms"
std::string CompareChange(double before, double after);       // "−12.3 ms"
std::string CompareInterval(const UncertainTime& time);       // "61.0 ms (60.1 ms to 61.9 ms)"
std::string CompareVerdict(const RunComparison& comparison);  // the first sentence
// "Saved"; "Lost" where AFTER takes longer.
std::string SavedLabel(const RunComparison& comparison);
// "85.6 ms (predicted: 47.0 ms)"; "217 µs (predicted saving: 30.0 µs)" where AFTER takes longer.
std::string SavedAmount(const RunComparison& comparison);
// "comm_exposed" and "idle.host_compute" as reports name them.
std::string StateInWords(const std::string& name);
std::string TitleWithTime(const FindingChange& item);
// "probably because of input/no-workers: AFTER still launches as much work"; "" of what was fixed
// itself.
std::string WentAlong(const FindingChange& item);
// What became of findings, as pages list it. Of runs of different work nothing was fixed, and
// nothing is new.
struct FindingGroup {
  enum class Kind { kBetter, kWorse, kSame, kUnknown };
  Kind kind;
  std::string label;  // "Gone"
  std::string title;  // "Gone without their own fix"
  std::vector<FindingChange> findings;
};
// Those that hold any.
std::vector<FindingGroup> FindingGroups(const RunComparison& comparison);

// "kernel and size 40 % before, 35 % after", for each level that matched anything, and the rest.
std::vector<std::string> MatchedInWords(const RunComparison& comparison);

}  // namespace advise
