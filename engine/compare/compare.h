// Two finished reports → what changed: time per unit of work with its uncertainty, budget, findings
// fixed, new and left, savings predicted against achieved. Refuses runs that did different things.
// Knows nothing of traces: it reads what the reports say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// A mean over steps, with the interval that holds it with 95 % confidence; no interval when the
// steps are too few to tell. The mean and not the median: what is fixed may be every tenth step.
struct UncertainTime {
  double ns = 0;
  double median_ns = 0;
  std::optional<double> low_ns, high_ns;
};

struct BudgetChange {
  std::string name;  // "compute", …, "idle", "idle.data_loading"
  double before_ns = 0;
  double after_ns = 0;  // of a device, per unit of work
};

struct FindingChange {
  std::string rule;
  std::string title;
  double before_ns = 0;  // saving promised, per unit of work; 0 when it did not fire
  double after_ns = 0;
  // Of what is gone without its own fix: what shows that, and the fixed ones that it went with;
  // `replayed`: the replay of BEFORE says so, else it is a guess.
  std::string why;
  std::vector<std::string> went_with = {};
  bool replayed = false;
};

// Work that one level of the comparison found in both runs: "kernel" (by name and size), "name" (of
// a kernel, whatever its size and numbers), "shapes" (operator and sizes of its inputs),
// "operator", "fused" (operators that a compiled kernel names), "range" (or module), "place" (in
// the step), "graph" (inside graphs that one run traced as a whole).
struct MatchedPart {
  std::string by;
  double before = 0, after = 0;  // shares of the kernel time
};

struct RunComparison {
  bool comparable = false;
  bool forced = false;               // they cannot, and are shown all the same
  bool other_program = false;        // they cannot, since AFTER is a run of another program
  bool other_work = false;           // they cannot, since a step does other work: batch, model
  std::vector<std::string> reasons;  // why the runs cannot be compared
  std::vector<std::string> notes;    // what to read the figures with

  std::string unit;  // "step", or "window" when there are no steps
  std::int64_t units_before = 0;
  std::int64_t units_after = 0;
  double work_ratio = 1;      // work in one unit of AFTER over one of BEFORE
  double matched_before = 0;  // share of the kernel time in kernels that both runs have
  double matched_after = 0;
  std::vector<MatchedPart> matched;  // by kernel and size first, the surest first

  UncertainTime before, after;  // per unit of BEFORE's work
  double speedup = 1;           // before over after
  std::optional<double> speedup_low, speedup_high;
  // Whether the change is larger than the noise; nullopt when that is not known.
  std::optional<bool> certain;

  std::vector<BudgetChange> budget;
  std::vector<FindingChange> fixed, added, left;
  std::vector<FindingChange> gone;     // fired before, and went with the fix of another
  std::vector<FindingChange> unknown;  // fired before; could not be checked after
  double predicted_ns = 0;             // summed over what is fixed, per unit of work
  double achieved_ns = 0;
};

// `before` and `after` must outlive nothing: texts are copied. `force`: runs of different work get
// figures, each for its own steps. Deterministic. O(facts + resamples).
RunComparison CompareRuns(const Report& before, const Report& after, const Knowledge& knowledge,
                          bool force = false);

}  // namespace advise
