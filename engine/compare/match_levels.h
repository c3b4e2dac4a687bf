// What work of two runs is the same, found level by level: what one level matches, the next does
// not ask about. A kernel that was renamed, fused or captured is still known by its operator and
// shapes, by the range or module around it, or by its place in the step. Internal to compare/.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/compare/compare.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// A row of the fact work.origins; of work.kernels, without places, where a report lacks that.
struct WorkRow {
  std::string kernel;  // "" of a graph that was traced as a whole
  std::string kernel_class;
  double blocks = 0, threads = 0;
  std::string op, sizes, range;  // "" unknown
  double place = -1;             // in the step, 0 to 1; -1 unknown
  double time = 0;
};
std::vector<WorkRow> WorkRowsOf(const Report& report);

struct LevelMatch {
  std::vector<MatchedPart> parts;  // the levels that matched anything, the surest first
  // Shares of the time that are matched by what is particular to a program: kernels by size or
  // name, operators on the same shapes.
  double sure_before = 0, sure_after = 0;
  double all_before = 0, all_after = 0;
  bool tells = false;   // anything but common names, places and graphs matched
  bool graphs = false;  // one of the runs holds graphs that were traced as a whole
};

// O(rows^2) at worst.
LevelMatch MatchLevels(const std::vector<WorkRow>& before, const std::vector<WorkRow>& after,
                       const Knowledge& knowledge);

}  // namespace advise
