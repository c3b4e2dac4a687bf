// What is worth knowing beside the findings, at the end of the text report.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/report/layout.h"

namespace advise {

struct TextNotes {
  std::vector<const Finding*> in_full;  // in full, where there is room
  std::size_t all = 0;
  bool is_next = false;  // the first is the next thing to do, and stands nowhere else
};

// `verbose`: also those that say again what stands elsewhere, or whose fix wins nothing.
TextNotes NotesOf(const Report& report, bool verbose);

// As many as `rows` hold, beside a label of `column`; how many there are takes one of them, or one
// more.
void WriteNotes(Page& page, const TextNotes& notes, int column, bool verbose, int rows);

}  // namespace advise
