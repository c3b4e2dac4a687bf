#include "engine/advice/whatif.h"

#include <algorithm>

#include "engine/advice/device_times.h"

namespace advise {
namespace {

// All remedies of the verdicts but those of one; nullptr: of all.
Remedy Together(const std::vector<const Verdict*>& verdicts, const Verdict* without) {
  Remedy together;
  for (const Verdict* verdict : verdicts) {
    if (verdict == without || verdict->rule->kind == RuleKind::kInfo || !verdict->saving.claims)
      continue;
    for (const auto& remedy : verdict->saving.remedies) together.Join(*remedy);
  }
  // How far each reaches is judged fix by fix below.
  together.reach_ns = 0;
  return together;
}

Remedy Alone(const Verdict& verdict) {
  Remedy alone;
  for (const auto& remedy : verdict.saving.remedies) alone.Join(*remedy);
  return alone;
}

}  // namespace

WhatIf ReplayFixes(const std::vector<const Verdict*>& verdicts, const Analysis& analysis) {
  WhatIf result;
  result.window_ns = analysis.run.window.Length();
  result.steps = analysis.run.steps.known() ? analysis.run.steps.steady_count() : 0;
  const Replay& replay = analysis.replay();
  result.gain_ns = replay.Gain(Together(verdicts, nullptr), &result.next_bound);
  const Nanos replayed = result.gain_ns;
  // A fix wins no more than the time that is lost to its cause, and several together no more than
  // the time that is lost to any of them.
  std::vector<IntervalSet> claimed(analysis.times.size());
  std::vector<IntervalSet> unreplayed(analysis.times.size());
  Nanos parts = 0;
  for (const Verdict* verdict : verdicts) {
    const SavingClaim& saving = verdict->saving;
    WhatIf::Part part{verdict->rule->id, verdict->rule->title, 0, !saving.remedies.empty()};
    if (saving.claims && verdict->rule->kind != RuleKind::kInfo) {
      const auto& by_device = saving.claims->by_device;
      for (std::size_t d = 0; d < std::min(claimed.size(), by_device.size()); ++d) {
        claimed[d] = claimed[d].Union(by_device[d]);
        if (!part.replayed) unreplayed[d] = unreplayed[d].Union(by_device[d]);
      }
      if (part.replayed) {
        const Remedy alone = Alone(*verdict);
        part.alone_ns = std::min(Longest(by_device), replay.Gain(alone));
        if (alone.reach_ns > 0) {
          const Nanos own = replayed - replay.Gain(Together(verdicts, verdict));
          result.gain_ns -= std::max<Nanos>(0, own - alone.reach_ns);
        }
      } else {
        part.alone_ns = static_cast<Nanos>(saving.part * static_cast<double>(Longest(by_device)));
        parts += part.alone_ns;
      }
    }
    result.parts.push_back(std::move(part));
  }
  // Time whose going the replay cannot follow is taken off as far as no replayed fix claims it.
  for (const Verdict* verdict : verdicts) {
    if (verdict->saving.remedies.empty() || !verdict->saving.claims) continue;
    const auto& by_device = verdict->saving.claims->by_device;
    for (std::size_t d = 0; d < std::min(unreplayed.size(), by_device.size()); ++d) {
      unreplayed[d] = unreplayed[d].Subtract(by_device[d]);
    }
  }
  result.gain_ns += std::min(parts, Longest(unreplayed));
  result.gain_ns =
      std::clamp<Nanos>(result.gain_ns, 0, std::min(Longest(claimed), result.window_ns));
  if (result.gain_ns == 0) result.next_bound.clear();
  return result;
}

}  // namespace advise
