// A copy of a report without what names a person, a machine, a place or a key, and with the same
// diagnosis. The copy is written anew, row by row: what was deleted in the source cannot come
// along.
//
// Kept: the tables that the importer reads, with their texts cleaned (scrub_text.h), and of the
// environment the switches that rules look at. Left out: every other table (program output, network
// and file names, whatever later versions add), and names that no kept row refers to.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/error.h"

namespace advise {

struct ScrubSummary {
  std::size_t tables_kept = 0, tables_left_out = 0;
  std::size_t hosts = 0, users = 0, paths = 0, secrets = 0, variables = 0;
  // Of a Chrome trace; its "tables" are the values beside the events.
  bool is_trace = false;
  std::size_t events_kept = 0, events_left_out = 0, events_broken = 0;
};

// Of an SQLite export of Nsight Systems or a Chrome trace of PyTorch (scrub_kineto.h). `output` is
// written under another name first and moved when complete. Fails when `report` is neither, when
// `output` exists, and when a known secret is still in the copy.
Result<ScrubSummary> ScrubReport(const std::string& report, const std::string& output);

}  // namespace advise
