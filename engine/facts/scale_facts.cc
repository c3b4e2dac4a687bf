// scale.*: facts of a comparison of runs on different numbers of GPUs. A diagnosis of one run knows
// only that there is one; `advise compare` writes the others (engine/compare/scaling.cc).
#include "engine/facts/declare.h"

namespace advise::facts {

void DeclareScaleFacts(Catalog* catalog) {
  catalog->OfAll().Add("scale.runs", "count",
                       "Runs that are compared: 1 when one run is diagnosed.",
                       [](const Analysis&) { return 1; });
  auto& scale = catalog->OfAll();
  scale.Needs([](const Analysis&) { return false; },
              "one run alone does not show how the program scales: advise compare", "");
  const auto compared = [&](const char* name, const char* unit, const char* definition) {
    scale.Add(name, unit, definition, [](const Analysis&) { return Absent{}; });
  };
  compared("scale.devices_before", "count", "Number of GPUs of the smaller run.");
  compared("scale.devices_after", "count", "Number of GPUs of the larger run.");
  compared("scale.time_before", "ns", "Time of the smaller run for the compared work.");
  compared("scale.time_after", "ns", "Time of the larger run for the compared work.");
  compared("scale.speedup", "num", "Time of the smaller run over that of the larger one.");
  compared("scale.efficiency", "share", "Speedup over the ratio of the GPUs of two runs.");
  compared("scale.bottleneck", "name",
           "The finding with the largest saving in the smaller run that the larger one still has.");
  compared("scale.bottleneck_title", "name", "What the finding scale.bottleneck says to do.");
  compared("scale.bottleneck_before", "share",
           "What fixing scale.bottleneck would save of the smaller run.");
  compared("scale.bottleneck_after", "share",
           "What fixing scale.bottleneck would save of the larger run.");
}

}  // namespace advise::facts
