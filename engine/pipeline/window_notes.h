// What figures leave out of a run: what lies outside of the window, and what the profiler costs.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/metrics/analysis.h"

namespace advise {

// Whether a part of the window, summed over all GPUs, is worth a note: at least the share `least`
// of the knowledge base.
bool Matters(const Analysis& analysis, Nanos time, const char* least);

// Which part of the run was analyzed, what the profiler adds to it, and what the program does
// before it and after it.
void AddNotesOnWindow(const Analysis& analysis, std::vector<CareNote>* notes);

// How steps were found, and which of them figures are of.
void AddNotesOnSteps(const Analysis& analysis, std::vector<CareNote>* notes);

}  // namespace advise
