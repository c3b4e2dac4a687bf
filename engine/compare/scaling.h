// Several runs on different numbers of GPUs → speedup and efficiency, and the facts that the rules
// of the area "scale" judge by.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/facts/facts.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// Time of the same work on fewer and on more GPUs. 217 s on 1 and 179 s on 4: speedup 1.21,
// efficiency 30.3 % (K-M1).
struct Speedup {
  double speedup = 0;
  double efficiency = 0;
};
Speedup SpeedupOf(double time_before, double devices_before, double time_after,
                  double devices_after);

struct ScalingRun {
  std::string label;
  const Report* report = nullptr;
  std::optional<double> given_s;  // measured time of the same work, in seconds
};

struct ScalingRow {
  std::string label;
  double devices = 0;
  double step_ns = 0;      // median; 0 unknown
  double work = 1;         // work of a step of one device over that of the first run
  double batch_bytes = 0;  // uploaded a step to one device; 0 unknown
  double time_ns = 0;      // for the work of one step of the first run, or as given
  double speedup = 1;
  double efficiency = 1;
  bool known = false;
};

struct Scaling {
  std::vector<ScalingRow> rows;       // in the order of the runs; the first is the base
  std::string source;                 // "step" | "given"
  std::vector<std::string> problems;  // why no speedup can be given
  std::vector<std::string> notes;
};

// At least two runs.
Scaling ScaleRuns(const std::vector<ScalingRun>& runs, const Knowledge& knowledge);

// A rule that judges a row of the table: it needs facts that only a comparison has.
bool JudgesScaling(const RuleInfo& rule);

// The facts scale.* of one row against the base.
std::unique_ptr<Facts> ScaleFacts(const Scaling& scaling, std::size_t row,
                                  const std::vector<ScalingRun>& runs);

}  // namespace advise
