// Which operators of a framework run on the CPU in chosen stretches of a thread's time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/trace/intervals.h"
#include "engine/trace/tables.h"

namespace advise {

struct NamedTime {
  std::string name;
  double time_ns = 0;
};

class OperatorsInCode {
 public:
  explicit OperatorsInCode(const Trace& trace) : trace_(trace) {}
  void Add(std::uint32_t thread, Nanos start, Nanos end) { spans_[thread].push_back({start, end}); }
  // What each operator takes there without those that it calls, in all. O(operators log spans).
  std::vector<NamedTime> LongestFirst() const;

 private:
  const Trace& trace_;
  std::map<std::uint32_t, std::vector<Interval>> spans_;  // by thread
};

}  // namespace advise
