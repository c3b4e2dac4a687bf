// Facts of kernel counters, rooflines and GPU metric samples: the list and the values.
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {

std::vector<FactInfo> CounterFactList() { return {}; }

void WriteCounterFacts(const Analysis& /*a*/, FactWriter* /*w*/) {}

}  // namespace advise::facts
