// What an importer could not use, or what a reader of the report must know about the input: one
// list, with counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace advise {

enum class Level : std::uint8_t { kInfo, kWarning, kError };

struct Diagnostic {
  Level level = Level::kInfo;
  std::string text;   // a sentence without the count: "rows end before they start and were dropped"
  std::string table;  // where in the input, may be empty
  std::int64_t count = 1;  // how often
};

// Note on a trace of another accelerator: nothing of it can be judged.
inline constexpr std::string_view kOtherAccelerator =
    "events of an accelerator that is not a GPU were left out: its work is not analyzed";

// Note on a trace of hardware counters: kernels were run one at a time to count, and no timeline
// was recorded.
inline constexpr std::string_view kCountersOfRanges =
    "hardware counters of kernels (CUPTI ranges) were left out: they have no place on a timeline";

// What a report lists twice is counted once, and so must be by who counts its rows.
inline constexpr std::string_view kCallsListedTwice =
    "CUDA calls are listed twice, with and without a version: they are counted once";

class Diagnostics {
 public:
  // Same (level, text, table) adds to the count.
  void Add(Level level, std::string_view text, std::string_view table = "",
           std::int64_t count = 1) {
    for (Diagnostic& known : list_) {
      if (known.level == level && known.text == text && known.table == table) {
        known.count += count;
        return;
      }
    }
    list_.push_back({level, std::string(text), std::string(table), count});
  }
  const std::vector<Diagnostic>& list() const { return list_; }
  // Part of the file could not be read, because it is damaged or was cut off.
  bool Damaged() const {
    return std::any_of(list_.begin(), list_.end(),
                       [](const Diagnostic& known) { return known.level == Level::kError; });
  }
  bool Has(std::string_view text) const {
    return std::any_of(list_.begin(), list_.end(),
                       [text](const Diagnostic& known) { return known.text == text; });
  }

 private:
  std::vector<Diagnostic> list_;
};

}  // namespace advise
