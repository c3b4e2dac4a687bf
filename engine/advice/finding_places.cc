#include "engine/advice/finding_places.h"

#include <algorithm>
#include <set>

namespace advise {

void FindingPlaces::Locate(const Verdict& verdict, Finding* finding) const {
  const Run& run = analysis_.run;
  std::set<int> ranks;
  const auto place = [&](std::uint32_t d) {
    finding->where.devices.push_back(static_cast<int>(run.trace.devices[d].ordinal));
    for (const Stream& stream : run.trace.streams) {
      if (stream.device != d || stream.process == kNone) continue;
      if (run.trace.processes[stream.process].rank >= 0)
        ranks.insert(run.trace.processes[stream.process].rank);
    }
  };
  if (!verdict.saving.claims) {
    for (const std::uint32_t d : run.active_devices) place(d);
  } else {
    const double in_step = knowledge_.Number("ranking.in_step");
    std::vector<Nanos> of_steps(run.steps.all.size());
    for (std::uint32_t d = 0; d < verdict.saving.claims->by_device.size(); ++d) {
      const IntervalSet& claim = verdict.saving.claims->by_device[d];
      if (claim.empty()) continue;
      place(d);
      for (std::size_t i = run.steps.first_steady; i < run.steps.all.size(); ++i) {
        const Step& step = run.steps.all[i];
        const Nanos inside = claim.OverlapWith(step.start, step.end);
        of_steps[i] += inside;
        if (static_cast<double>(inside) >= in_step * static_cast<double>(step.Length())) {
          finding->where.steps.push_back(static_cast<int>(i));
        }
      }
    }
    finding->where.others_wait = OthersWait(verdict.saving.claims->by_device);
    finding->step_parts = StepParts(of_steps, verdict.saving.claims->Total());
    const double least = knowledge_.Number("ranking.phase_share");
    std::vector<std::uint32_t> waits;
    for (const auto& remedy : verdict.saving.remedies) {
      waits.insert(waits.end(), remedy->unblocked_calls.begin(), remedy->unblocked_calls.end());
    }
    const Phase phase = waits.empty() ? Phases().Of(verdict.saving.claims->by_device, least)
                                      : ClaimPhase::OfCalls(analysis_.phases, waits, least);
    if (phase != Phase::kUnnamed) finding->where.phase = PhaseName(phase);
  }
  auto& steps = finding->where.steps;
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  auto& devices = finding->where.devices;
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  finding->where.ranks.assign(ranks.begin(), ranks.end());
}

// Whether this time is lost on one GPU while most of the idle time of the others is waits for it.
bool FindingPlaces::OthersWait(const std::vector<IntervalSet>& claims) const {
  const Run& run = analysis_.run;
  std::size_t losing = 0;
  Nanos idle = 0;
  Nanos for_peers = 0;
  for (const std::uint32_t d : run.active_devices) {
    if (d < claims.size() && !claims[d].empty()) {
      ++losing;
      continue;
    }
    idle += analysis_.times[d].idle.Total();
    for_peers += analysis_.idle.by_device[d][static_cast<std::size_t>(IdleCause::kPeerWait)];
  }
  return losing == 1 && 2 * for_peers > idle;
}

// What each step holds of a claim; nothing where they share it about evenly.
std::vector<StepPart> FindingPlaces::StepParts(const std::vector<Nanos>& of_steps,
                                               Nanos claimed) const {
  const Steps& steps = analysis_.run.steps;
  if (claimed <= 0 || !steps.known()) return {};
  const auto window = static_cast<double>(std::max<Nanos>(1, analysis_.basis().Device()));
  const double even = static_cast<double>(claimed) /
                      static_cast<double>(std::max<std::size_t>(1, steps.steady_count()));
  Nanos most = 0;
  std::vector<StepPart> parts;
  for (std::size_t i = steps.first_steady; i < of_steps.size(); ++i) {
    if (of_steps[i] <= 0) continue;
    parts.push_back({steps.all[i].start, static_cast<double>(of_steps[i]) / window});
    most = std::max(most, of_steps[i]);
  }
  if (static_cast<double>(most) <= knowledge_.Number("ranking.even_step") * even) return {};
  return parts;
}

}  // namespace advise
