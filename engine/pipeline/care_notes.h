// What makes figures of a report less certain than they look.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/analysis.h"

namespace advise {

std::vector<std::string> ReadWithCare(const Analysis& analysis);

}  // namespace advise
