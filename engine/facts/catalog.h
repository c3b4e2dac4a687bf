// The facts of a run, computed from metrics on demand.
#pragma once

#include <memory>
#include <vector>

#include "engine/facts/facts.h"

namespace advise {

struct Analysis;

// Every fact there is, with unit and definition, in the order of the documentation.
const std::vector<FactInfo>& FactList();

// The facts of the whole run. `analysis` must outlive the result.
std::unique_ptr<Facts> MakeFacts(const Analysis& analysis);

}  // namespace advise
