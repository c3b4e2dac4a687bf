#include "engine/metrics/losses/steps/usual_pauses.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "engine/metrics/losses/steps/step_copies.h"
#include "engine/timeline/pause.h"

namespace advise {

UsualPauses::UsualPauses(const Run& run)
    : run_(run),
      half_(std::max<std::size_t>(1, run.steps.steady_count() / 2)),
      most_(run.knowledge.Number("step.usual_pauses") *
            static_cast<double>(run.steps.steady_count())),
      beyond_(run.knowledge.Number("step.usual_pause_part")),
      nearly_(run.knowledge.Number("step.usual_pause_nearly")),
      spread_(run.knowledge.Number("step.usual_pause_spread")),
      of_thread_(run.trace.threads.size()),
      plain_(run.trace.threads.size()),
      syncs_(run.trace.threads.size()) {
  const CallTable& calls = run.trace.calls;
  for (const std::uint32_t thread : run.launching_threads) {
    const RowRange rows = run.calls_of_thread[thread];
    if (rows.empty()) continue;
    // A host that ran ahead makes the calls of several steps in one: what they launch tells.
    const auto step_of = [&](std::uint32_t c) {
      const std::uint32_t op = run.first_op_of_call[c];
      return run.steps.At(op == kNone ? calls.end[c] : run.trace.ops.start[op]);
    };
    std::map<Kind, std::set<std::size_t>> waits;  // by step
    for (std::uint32_t c = rows.first + 1; c < rows.last; ++c) {
      if (run.InWindow(calls.start[c]) && IsSync(run.ClassOfCall(c)))
        waits[KindOf(c)].insert(step_of(c));
    }
    for (const auto& [kind, steps] : waits) syncs_[thread][kind] = steps.size();
    std::map<Kind, std::vector<PauseOfStep>> longest, longest_plain;
    Nanos until = calls.end[rows.first];
    for (std::uint32_t c = rows.first + 1; c < rows.last; ++c) {
      const Nanos pause = calls.start[c] - until;
      until = std::max(until, calls.end[c]);
      if (!run.InWindow(calls.start[c]) || pause <= 0) continue;
      const Kind kind = KindOf(c);
      const PauseOfStep of_step{step_of(c), pause};
      KeepLongest(of_step, &longest[kind]);
      if (!IsRareSync(c - 1)) KeepLongest(of_step, &longest_plain[kind]);
    }
    of_thread_[thread] = Sorted(std::move(longest));
    plain_[thread] = Sorted(std::move(longest_plain));
  }
}

// Calls come in about the order of steps: most pauses are of the step of the one before.
void UsualPauses::KeepLongest(const PauseOfStep& one, std::vector<PauseOfStep>* all) {
  if (all->empty() || all->back().step != one.step) {
    all->push_back(one);
    return;
  }
  PauseOfStep& last = all->back();
  const Nanos shorter = std::min(last.length, one.length);
  last.length = std::max(last.length, one.length);
  last.second = std::max({last.second, one.second, shorter});
}

UsualPauses::Lengths UsualPauses::Sorted(std::map<Kind, std::vector<PauseOfStep>> pauses_of) {
  Lengths lengths_of;
  for (auto& [kind, pauses] : pauses_of) {
    const auto earlier = [](const PauseOfStep& a, const PauseOfStep& b) { return a.step < b.step; };
    if (!std::is_sorted(pauses.begin(), pauses.end(), earlier))
      std::stable_sort(pauses.begin(), pauses.end(), earlier);
    std::vector<PauseOfStep> longest;
    longest.reserve(pauses.size());
    for (const PauseOfStep& one : pauses) KeepLongest(one, &longest);
    std::vector<Nanos>& lengths = lengths_of[kind];
    lengths.reserve(longest.size());
    Nanos early = 0;  // launched for a later step
    std::uint32_t next = longest.empty() ? 0 : longest.front().step;
    for (const PauseOfStep& one : longest) {
      if (one.step > next && early > 0) lengths.push_back(std::exchange(early, 0));
      lengths.push_back(one.length);
      early = std::max(early, one.second);
      next = one.step + 1;
    }
    std::sort(lengths.begin(), lengths.end());
    pauses = {};
  }
  return lengths_of;
}

UsualPauses::Kind UsualPauses::KindOf(std::uint32_t call) const {
  const OpTable& ops = run_.trace.ops;
  const StringId name = run_.trace.calls.name[call];
  const std::uint32_t op = run_.first_op_of_call[call];
  if (op == kNone || (ops.kind[op] != OpKind::kKernel && ops.kind[op] != OpKind::kCopy))
    return {name, kNone, 0};
  if (ops.kind[op] == OpKind::kKernel) return {name, ops.detail[op], 0};
  const CopyClass copy = ClassOfCopy(run_.trace, op);
  return {name, static_cast<std::uint32_t>(copy.first), copy.second};
}

std::uint32_t UsualPauses::RareSyncBefore(std::uint32_t thread, Nanos time) const {
  if (thread == kNone) return kNone;
  const std::uint32_t next = NextCall(run_, thread, time);
  if (next == kNone || next == run_.calls_of_thread[thread].first) return kNone;
  return IsRareSync(next - 1) ? next - 1 : kNone;
}

bool UsualPauses::IsRareSync(std::uint32_t call) const {
  if (!IsSync(run_.ClassOfCall(call))) return false;
  const auto& syncs = syncs_[run_.trace.calls.thread[call]];
  const auto count = syncs.find(KindOf(call));
  return count == syncs.end() || static_cast<double>(count->second) < most_;
}

Nanos UsualPauses::LongestUsual(std::uint32_t thread, const Kind& kind, Nanos least) const {
  const auto found = plain_[thread].find(kind);
  if (found == plain_[thread].end()) return 0;
  const std::vector<Nanos>& all = found->second;  // sorted
  const std::span<const Nanos> lengths(std::lower_bound(all.begin(), all.end(), least), all.end());
  if (lengths.empty()) return 0;
  const auto at = [&](std::size_t tenths) { return lengths[(lengths.size() - 1) * tenths / 10]; };
  const auto median = static_cast<double>(at(5));
  return static_cast<Nanos>(
      std::max(median / nearly_, median + spread_ * static_cast<double>(at(9) - at(1))));
}

Nanos UsualPauses::CodeBefore(std::uint32_t call) const {
  const CallTable& calls = run_.trace.calls;
  const std::uint32_t before = call - 1;
  const Nanos pause = calls.start[call] - calls.end[before];
  const std::uint32_t first = run_.calls_of_thread[calls.thread[call]].first;
  if (before == first || !IsRareSync(before)) return pause;
  return pause + std::max<Nanos>(0, calls.start[before] - calls.end[before - 1]);
}

Nanos UsualPauses::BeyondUsual(std::uint32_t thread, Nanos time) const {
  const std::uint32_t next = NextCall(run_, thread, time);
  const Nanos pause = CodeBefore(next);
  const auto found = plain_[thread].find(KindOf(next));
  if (found == plain_[thread].end() || found->second.size() < half_) return pause;
  // Half of the steps have a pause before such a call that is at least so long.
  return std::max<Nanos>(0, pause - found->second[found->second.size() - half_]);
}

bool UsualPauses::Holds(std::uint32_t thread, Nanos time, Nanos idle) const {
  if (thread == kNone) return false;
  const CallTable& calls = run_.trace.calls;
  const std::uint32_t next = NextCall(run_, thread, time);
  if (next == kNone || next == run_.calls_of_thread[thread].first) return false;
  if (time < calls.end[next - 1]) return false;  // inside that call
  const Nanos pause = CodeBefore(next);
  const auto found = of_thread_[thread].find(KindOf(next));
  if (pause <= 0 || found == of_thread_[thread].end()) return false;
  const std::vector<Nanos>& lengths = found->second;
  const bool behind_wait = RareSyncBefore(thread, time) != kNone;
  const Nanos least =
      behind_wait ? static_cast<Nanos>(beyond_ * static_cast<double>(pause)) : pause - idle / 2;
  if (behind_wait && pause > LongestUsual(thread, KindOf(next), least)) return false;
  const auto longer = lengths.end() - std::lower_bound(lengths.begin(), lengths.end(), least);
  return static_cast<double>(longer) >= most_;
}

}  // namespace advise
