#include "engine/timeline/phase.h"

#include <algorithm>

#include "engine/timeline/phase_messages.h"

namespace advise {

Phases::Phases(const Run& run) : sets_(run.trace.processes.size()) {
  const RangeTable& ranges = run.trace.ranges;
  std::vector<std::array<std::vector<Interval>, kCount>> collected(sets_.size());
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const auto phase = static_cast<std::size_t>(run.names.RangePhase(ranges.name[i]));
    if (phase == 0 || ranges.thread[i] == kNone) continue;
    const std::uint32_t process = run.trace.threads[ranges.thread[i]].process;
    if (process == kNone) continue;
    collected[process][phase].push_back({ranges.start[i], ranges.end[i]});
    known_[phase] = true;
  }
  // A framework's compiler is an operator like others.
  const OperatorTable& operators = run.trace.operators;
  for (std::uint32_t i = 0; i < operators.size(); ++i) {
    if (run.names.RangePhase(operators.name[i]) != Phase::kCompilation) continue;
    const std::uint32_t process = run.trace.threads[operators.thread[i]].process;
    if (process == kNone) continue;
    collected[process][static_cast<std::size_t>(Phase::kCompilation)].push_back(
        {operators.start[i], operators.end[i]});
    known_[static_cast<std::size_t>(Phase::kCompilation)] = true;
  }
  const MpiTable& mpi = run.trace.mpi;
  for (std::uint32_t i = 0; i < mpi.size(); ++i) {
    if (!MovesData(mpi.kind[i])) continue;
    if (mpi.thread[i] == kNone) continue;
    const std::uint32_t process = run.trace.threads[mpi.thread[i]].process;
    const auto phase = static_cast<std::size_t>(Phase::kCommunication);
    if (process == kNone) continue;
    collected[process][phase].push_back({mpi.start[i], mpi.end[i]});
    known_[phase] = true;
  }
  const std::vector<IntervalSet> exchanges = ExchangesOfMessages(run);
  for (const std::uint32_t thread : run.launching_threads) {
    const auto phase = static_cast<std::size_t>(Phase::kCommunication);
    for (const Interval& exchange : exchanges[thread].intervals()) {
      collected[run.trace.threads[thread].process][phase].push_back(exchange);
      known_[phase] = true;
    }
  }
  for (std::size_t p = 0; p < sets_.size(); ++p) {
    for (std::size_t phase = 1; phase < kCount; ++phase) {
      sets_[p][phase] = IntervalSet::Of(std::move(collected[p][phase]));
    }
  }
  FromOperators(run);
  FromThreads(run);
  if (std::any_of(known_.begin(), known_.end(), [](bool known) { return known; })) LabelCalls(run);
}

void Phases::LabelCalls(const Run& run) {
  of_call_.assign(run.trace.calls.size(), Phase::kUnnamed);
  for (const std::uint32_t thread : run.launching_threads) {
    const std::uint32_t process = run.trace.threads[thread].process;
    if (process == kNone) continue;
    // Calls of a thread ascend in time: one cursor a phase that the process has.
    struct Cursor {
      Phase phase;
      IntervalList::Iterator at, end;
    };
    std::vector<Cursor> cursors;
    for (std::size_t phase = 1; phase < kCount; ++phase) {
      const auto& intervals = sets_[process][phase].intervals();
      if (intervals.empty()) continue;
      cursors.push_back({static_cast<Phase>(phase), intervals.begin(), intervals.end()});
    }
    for (const std::uint32_t call : run.calls_of_thread[thread]) {
      const Nanos time = run.trace.calls.start[call];
      for (Cursor& cursor : cursors) {
        while (cursor.at != cursor.end && cursor.at->end <= time) ++cursor.at;
        // The most specific phase is the last one that holds.
        if (cursor.at != cursor.end && cursor.at->start <= time) of_call_[call] = cursor.phase;
      }
    }
  }
}

Phase Phases::At(std::uint32_t process, Nanos time) const {
  if (process == kNone) return Phase::kUnnamed;
  for (std::size_t phase = kCount; phase > 1; --phase) {
    if (sets_[process][phase - 1].Contains(time)) return static_cast<Phase>(phase - 1);
  }
  return Phase::kUnnamed;
}

}  // namespace advise
