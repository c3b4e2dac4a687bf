// Facts of framework operators: the list and the values.
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {

std::vector<FactInfo> OperatorFactList() { return {}; }

void WriteOperatorFacts(const Analysis& /*a*/, FactWriter* /*w*/) {}

}  // namespace advise::facts
