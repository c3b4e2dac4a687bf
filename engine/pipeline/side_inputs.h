// Files without a timeline (monitor logs, kernel counters, topology, NCCL's log) of a run of
// several reports: which report each belongs to, and what belongs to none.
//
// A monitor's GPU goes to the report whose kernels ran on it: by UUID; without UUIDs by its number,
// where ranks are numbered like their GPUs or the host is known to be the same. Counters go to
// every report, since ranks run the same kernels. What is said of the whole job (topology, NCCL's
// log), and GPUs that cannot be told apart, go to the first report.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/pipeline/run_inputs.h"
#include "engine/trace/diagnostics.h"

namespace advise {

class SideInputs {
 public:
  // Reads all of them: they are small. Fails on the first that cannot be read.
  static Result<SideInputs> Read(const std::vector<std::string>& files);

  // For the list of inputs of the report that they are joined to.
  const std::vector<InputFile>& inputs() const { return inputs_; }
  // Adds to a report what belongs to it. Returns the GPUs of monitors that it took, for LeftOut().
  // May be called by several threads. O(ops).
  std::set<std::string> Join(bool first, Trace* trace) const;
  // What no report took: a line a file.
  std::vector<Diagnostic> LeftOut(bool any_timeline, const std::set<std::string>& taken) const;

 private:
  std::vector<Trace> sides_;
  std::vector<InputFile> inputs_;
};

}  // namespace advise
