// What makes figures of a report less certain than they look.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/metrics/analysis.h"

namespace advise {

std::vector<CareNote> ReadWithCare(const Analysis& analysis);

}  // namespace advise
