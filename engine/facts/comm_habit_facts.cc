// Facts of habits of communication: the list and the values.
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"
#include "engine/metrics/losses/comm_habits.h"

namespace advise::facts {

std::vector<FactInfo> CommHabitFactList() {
  return {
      {"comm.micro.backwards", "count", "Backward passes a step."},
      {"comm.micro.synced", "count", "Backward passes a step in which gradients are sent."},
      {"comm.micro.optimizers", "count", "Optimizer passes a step."},
      {"comm.micro.lost", "spans",
       "Exposed time of gradient collectives in all backward passes of a step but the last."},
      {"comm.micro.remedy", "remedy", "These collectives are gone."},
      {"comm.replicate.devices", "count", "Most devices that one process launches kernels on."},
      {"comm.replicate.broadcasts", "count", "Broadcast kernels a step on each of them."},
      {"comm.replicate.reduces", "count", "Reduce kernels a step on each of them."},
      {"comm.replicate.lost", "spans",
       "Exposed time of their broadcasts, reduces and copies from GPU to GPU."},
      {"comm.replicate.remedy", "remedy", "These are gone."},
      {"comm.contention.slowdown", "num",
       "Time of compute kernels beside collectives over the time of the same kernels alone."},
      {"comm.contention.compared", "count", "Kernels beside collectives that were compared."},
      {"comm.contention.lost", "spans", "What they take beyond their time alone."},
      {"comm.contention.remedy", "remedy", "They take their time alone."},
  };
}

void WriteCommHabitFacts(const Analysis& a, FactWriter* w) {
  const CommHabits& h = a.comm_habits;
  if (h.backwards > 0) {
    w->Number("comm.micro.backwards", h.backwards);
    w->Number("comm.micro.synced", h.synced);
  } else {
    const char* const kNone = "no ranges name the backward pass inside steps";
    w->Missing("comm.micro.backwards", kNone, "nvtx");
    w->Missing("comm.micro.synced", kNone, "nvtx");
  }
  w->KnownNumber("comm.micro.optimizers", h.optimizers, "no ranges name the optimizer", "nvtx");
  w->Lost("comm.micro", h.early);
  w->Number("comm.replicate.devices", static_cast<double>(h.shared_devices));
  w->Number("comm.replicate.broadcasts", h.broadcasts);
  w->Number("comm.replicate.reduces", h.reduces);
  w->Lost("comm.replicate", h.replicate);
  w->KnownNumber("comm.contention.slowdown", h.compared > 0 ? h.slowdown : 0,
                 "no kernel ran both beside collectives and without them often enough", "");
  w->Number("comm.contention.compared", h.compared);
  w->Lost("comm.contention", h.contention);
}

}  // namespace advise::facts
