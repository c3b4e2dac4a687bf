// What importers share on host calls: which are listed twice, and from GPU work to the call that
// launched it.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/trace/tables.h"

namespace advise {

// Drops calls that a report lists twice: inside one of the same name, thread and correlation id, as
// exports of 2022 list calls that a call stack was taken of. Returns how many. The one that stays
// failed where either did. The table must be sorted; other tables may not refer to it yet. O(n).
std::size_t DropCallsListedTwice(CallTable* calls);

// Note on a report whose GPU work is tied to no call any more.
inline constexpr std::string_view kClocksDisagree =
    "GPU work seems to start long before the call that launched it";

// Nothing starts before it is launched. Where most GPU work seems to, by far more than clocks are
// read apart, no time of the host can be laid beside one of the GPU: forgets which call launched
// what. Returns how much work seemed to start early; 0 where that is little, and stays. O(ops).
std::size_t ForgetImpossibleLaunches(Trace* trace);

// Calls by (process, correlation id). Ids collide between processes. Where several calls share an
// id (a driver call inside a runtime call) the earliest, then the longest, is meant: the outermost.
class CallIndex {
 public:
  CallIndex(const CallTable& calls, const std::vector<Thread>& threads, std::size_t processes);

  // The row of the call; kNone for correlation 0 and for what was not captured.
  std::uint32_t Find(std::uint32_t process, std::uint32_t correlation) const;

 private:
  // Of one process. Ids ascend in launch order, so a vector by id is nearly always small enough;
  // where ids lie far apart, pairs sorted by id stand in.
  struct ProcessCalls {
    std::uint32_t first_id = 0;
    std::vector<std::uint32_t> by_id;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  };
  std::vector<ProcessCalls> processes_;
};

}  // namespace advise
