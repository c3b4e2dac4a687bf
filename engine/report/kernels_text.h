// The kernels with most time: what a capture without findings can say.
#pragma once

#include "engine/advice/report_model.h"
#include "engine/report/layout.h"

namespace advise {

// "Kernels   55 %  3 × 1.28 µs  add_one", with the words in `column`; the first three.
void WriteKernels(Page& page, const Report& report, int column);

}  // namespace advise
