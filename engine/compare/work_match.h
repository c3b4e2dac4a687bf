// Whether two runs did the same work, and how much of it, judged from kernels by name and size,
// from where they were launched, and from sizes of uploads. Internal to compare/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/compare/match_levels.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct WorkMatch {
  bool same = false;          // the kernels (or uploads) of both are of the same sizes
  std::string problem;        // when not
  double count_ratio = 1;     // launches of the same work, AFTER's window over BEFORE's
  bool even = false;          // most matched kernels agree on count_ratio
  bool by_uploads = false;    // else what is uploaded and a part of the kernels do
  double longer = 1;          // of a launch of nearly all kernels; 1 where no one factor holds
  double size_ratio = 1;      // threads a launch of the same kernel, AFTER over BEFORE
  bool other_batch = false;   // kernels whose size follows the upload say so
  bool other_pieces = false;  // the same work a step in launches of other sizes (micro-batches)
  double matched_before = 0;  // shares of the kernel time, of kernels of one name and size
  double matched_after = 0;
  bool other_program = false;  // the kernels are of another program
  LevelMatch levels;           // and by what else the rest is known
};

WorkMatch MatchWork(const Report& before, const Report& after, const Knowledge& knowledge);

// The median of (value, weight) pairs by weight; 1 when there are none.
double WeightedMedian(std::vector<std::pair<double, double>> values);

}  // namespace advise
