// What shows a finding to be true, each item with the SQL that returns its value from the report as
// it stands.
#pragma once

#include <vector>

#include "engine/advice/finding.h"
#include "engine/metrics/analysis.h"

namespace advise {

std::vector<Evidence> CollectEvidence(const Verdict& verdict, const Analysis& analysis);

}  // namespace advise
