// From the files that the user named to the reports of one run: those with a timeline, with what
// the others (monitor logs, kernel counters, topology, NCCL's log) say joined to them.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/import/importer.h"
#include "engine/trace/tables.h"

namespace advise {

// One file as it was given, for the report's list of inputs.
struct InputFile {
  std::string path;
  std::string kind;
  std::string producer;
  std::string host;
  int rank = -1;
};

struct RunInputs {
  std::vector<Trace> traces;      // with a timeline, in the order given; one without when none has
  std::vector<InputFile> inputs;  // every file, those with a timeline first
};

// `paths`: files only. Fails on the first that cannot be read.
Result<RunInputs> ReadRun(const std::vector<std::string>& paths, const ImportOptions& options);

// Adds what an input without a timeline says to a trace. `side` is left empty.
void JoinSide(Trace& side, Trace* trace);

}  // namespace advise
