#include "engine/metrics/losses/launches/behind_launches.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/timeline/blocking_calls.h"
#include "engine/timeline/pause.h"

namespace advise {
namespace {

class LaunchingTime {
 public:
  LaunchingTime(const Run& run, const std::vector<std::uint32_t>& launches)
      : run_(run), launching_(run.trace.threads.size()), waits_(run.trace.threads.size()) {
    std::vector<std::uint8_t> is_launch(run.trace.calls.size(), 0);
    for (const std::uint32_t call : launches) is_launch[call] = 1;
    const std::vector<Nanos> long_pauses = LongPauses(run);
    const auto ahead = run.knowledge.Time("idle.host_ahead");
    const CallTable& calls = run.trace.calls;
    for (const std::uint32_t thread : run.launching_threads) {
      const RowRange rows = run.calls_of_thread[thread];
      Nanos sum = 0;
      Nanos until = rows.empty() ? 0 : calls.start[rows.first];
      for (const std::uint32_t c : rows) {
        const Nanos pause = std::max<Nanos>(0, calls.start[c] - until);
        until = std::max(until, calls.end[c]);
        const Nanos length = calls.end[c] - calls.start[c];
        // A launch that takes so long waits for a place in the queue.
        if (length >= ahead && (is_launch[c] != 0 || BlocksHost(run, c)))
          waits_[thread].push_back(calls.end[c]);
        if (is_launch[c] == 0 || length >= ahead) continue;
        sum += length + (pause <= long_pauses[thread] ? pause : 0);
        launching_[thread].push_back({calls.end[c], sum});
      }
    }
  }

  // What the thread's launches took that ended in [from, to).
  Nanos Between(std::uint32_t thread, Nanos from, Nanos to) const {
    return UpTo(thread, to) - UpTo(thread, from);
  }

  // When the thread last stopped waiting for the GPU before `time`; the start of the window if it
  // did not wait since then.
  Nanos LastWait(std::uint32_t thread, Nanos time) const {
    const std::vector<Nanos>& ends = waits_[thread];
    const auto next = std::upper_bound(ends.begin(), ends.end(), time);
    return std::max(run_.window.start, next == ends.begin() ? run_.window.start : *std::prev(next));
  }

 private:
  struct Launched {
    Nanos end = 0;
    Nanos sum = 0;  // of all launches so far
  };
  Nanos UpTo(std::uint32_t thread, Nanos time) const {
    const std::vector<Launched>& all = launching_[thread];
    const auto next = std::lower_bound(all.begin(), all.end(), time,
                                       [](const Launched& one, Nanos t) { return one.end < t; });
    return next == all.begin() ? 0 : std::prev(next)->sum;
  }

  const Run& run_;
  std::vector<std::vector<Launched>> launching_;  // by thread
  std::vector<std::vector<Nanos>> waits_;         // by thread: when they ended
};

bool IsOfHost(IdleCause cause) {
  return cause == IdleCause::kHostCompute || cause == IdleCause::kFileIo ||
         cause == IdleCause::kAllocation || cause == IdleCause::kJitOrModuleLoad;
}

}  // namespace

void AddBehindLaunches(const Basis& basis, const std::vector<std::uint32_t>& launches,
                       LossBuilder* loss) {
  const LaunchingTime times(basis.run, launches);
  const std::vector<Nanos> long_pauses = LongPauses(basis.run);
  const auto long_gap = basis.run.knowledge.Time("launch.long_gap");
  const Steps& steps = basis.run.steps;
  const auto stands_out = [&](Nanos time) {
    const std::uint32_t step = steps.outliers.empty() ? kNone : steps.At(time);
    return step != kNone && steps.IsOutlier(step);
  };
  // By device and thread: when its last such gap ended.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Nanos> last;
  std::vector<std::pair<std::uint32_t, Interval>> behind;  // by device
  Nanos usual = 0;  // the longest outside of steps that stand out
  for (const GapPiece piece : basis.idle.pieces) {
    const std::uint32_t thread = basis.idle.ThreadOf(piece);
    if (thread == kNone || !IsOfHost(piece.cause) || !basis.InLoop(piece.start)) continue;
    const Gap gap = basis.idle.gaps[piece.gap];
    const bool short_gap = gap.Length() <= long_gap;
    const auto in_pause = [&] {
      return PauseAround(basis.run, thread, piece.start).Length() > long_pauses[thread];
    };
    if (short_gap && !in_pause()) continue;  // what launching itself costs
    Nanos& since = last[{piece.device, thread}];
    const Nanos from = std::max(since, times.LastWait(thread, piece.end));
    const Nanos part =
        std::min(piece.Length(), times.Between(thread, from, std::max(from, piece.start)));
    since = piece.end;
    if (part <= 0) continue;
    behind.push_back({piece.device, {piece.end - part, piece.end}});
    if (!stands_out(piece.start)) usual = std::max(usual, part);
  }
  // What only a step that stands out has is its own: launching is the same in all steps.
  for (const auto& [device, part] : behind) {
    const Nanos length = stands_out(part.start) ? std::min(usual, part.Length()) : part.Length();
    loss->AddSpan(device, part.end - length, part.end);
  }
}

}  // namespace advise
