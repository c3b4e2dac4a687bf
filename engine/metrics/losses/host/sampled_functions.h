// Which functions CPU samples saw on a thread in chosen stretches of time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

struct SampledFunction {
  std::string name;    // as a sentence can bear it; of an unresolved one, its library's file
  double samples = 0;  // in which it was the innermost
};

class SampledFunctions {
 public:
  explicit SampledFunctions(const Trace& trace);
  void Add(std::uint32_t thread, Nanos start, Nanos end);  // O(log samples + samples inside)
  std::vector<SampledFunction> MostFirst() const;

 private:
  const Trace& trace_;
  std::vector<RowRange> of_thread_;
  std::map<std::pair<StringId, StringId>, double> samples_;  // by symbol and module
};

}  // namespace advise
