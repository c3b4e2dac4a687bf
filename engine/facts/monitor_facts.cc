// Facts of monitor logs: the list and the values.
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {

std::vector<FactInfo> MonitorFactList() { return {}; }

void WriteMonitorFacts(const Analysis& /*a*/, FactWriter* /*w*/) {}

}  // namespace advise::facts
