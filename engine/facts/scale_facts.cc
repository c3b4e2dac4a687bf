// Facts of a comparison of runs on different numbers of GPUs. A diagnosis of one run knows only
// that there is one; `advise compare` writes the others (engine/compare/scaling.cc).
#include "engine/facts/fact_writer.h"

namespace advise::facts {

std::vector<FactInfo> ScaleFactList() {
  return {
      {"scale.runs", "count", "Runs that are compared: 1 when one run is diagnosed."},
      {"scale.devices_before", "count", "GPUs of the smaller run."},
      {"scale.devices_after", "count", "GPUs of the larger run."},
      {"scale.time_before", "ns", "Time of the smaller run for the compared work."},
      {"scale.time_after", "ns", "Time of the larger run for the same work."},
      {"scale.speedup", "num", "Time of the smaller run over that of the larger one."},
      {"scale.efficiency", "share", "Speed-up over the ratio of the GPUs."},
      {"scale.bottleneck", "name",
       "The finding with the largest saving in the smaller run that the larger one still has."},
      {"scale.bottleneck_title", "name", "What that finding says to do."},
      {"scale.bottleneck_before", "share", "What its fix would save of the smaller run."},
      {"scale.bottleneck_after", "share", "What its fix would save of the larger run."},
  };
}

void WriteScaleFacts(FactWriter* w) {
  w->Number("scale.runs", 1);
  for (const FactInfo& info : ScaleFactList()) {
    if (info.name == "scale.runs") continue;
    w->Missing(info.name, "one run alone does not show how the program scales: advise compare", "");
  }
}

}  // namespace advise::facts
