// Files without a timeline (monitor logs, kernel counters, topology, NCCL's log): which report of
// the run each belongs to, and what belongs to none.
//
// The only report of a run gets all of it. Of several reports, a monitor's GPU goes to the report
// whose kernels ran on it: by UUID; without UUIDs by its number, where ranks are numbered like
// their GPUs or the host is known to be the same. Counters go to every report, since ranks run the
// same kernels; so does NCCL's log, since what it says of the paths between ranks costs each of
// them time. What else is said of the whole job (topology), and GPUs that cannot be told apart, go
// to the first report.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/base/error.h"
#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

// A file as it was given, for the report's list of inputs.
InputInfo InputOf(const Trace& trace);

// What tells that a monitor's log and a report are of different times, in seconds.
struct TimesApart {
  double days = 0;       // so far apart they are of different days, whatever zone the log is of
  double zone_step = 0;  // time zones differ by multiples of this
  double clocks = 0;     // by which the clocks of one run may differ
};

class SideInputs {
 public:
  // The report that a file is joined to.
  enum class Of : std::uint8_t { kOnlyReport, kFirstReport, kOtherReport };

  // Reads all of them. Fails on the first that cannot be read.
  static Result<SideInputs> Read(const std::vector<std::string>& files, int jobs,
                                 const Knowledge& knowledge);

  // For the list of inputs of the report that they are joined to.
  const std::vector<InputInfo>& inputs() const { return inputs_; }
  // Adds to a report what belongs to it. Returns the GPUs of monitors that it took, for LeftOut().
  // May be called by several threads. O(ops).
  std::set<std::string> Join(Of of, Trace* trace) const;
  // What no report took: a line a file.
  std::vector<Diagnostic> LeftOut(bool any_report, const std::set<std::string>& taken) const;

 private:
  std::vector<Trace> sides_;
  std::vector<InputInfo> inputs_;
  TimesApart apart_;
};

}  // namespace advise
