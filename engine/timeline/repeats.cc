#include "engine/timeline/repeats.h"

#include <algorithm>
#include <optional>
#include <set>

#include "engine/base/median.h"
#include "engine/timeline/collective_kind.h"
#include "engine/timeline/step.h"

namespace advise {
namespace {

// When the calls that launch the repeats open, in order, and the thread that makes them; nothing
// where that is not known. Threads that drive other GPUs meet those.
struct Opened {
  std::vector<Nanos> at;
  std::uint32_t thread = kNone;
};

std::optional<Opened> OpenedBy(const Run& run, const std::vector<std::uint32_t>& sequence,
                               const Period& period) {
  Opened opened;
  for (const std::size_t place : period.starts) {
    const std::uint32_t call = run.trace.ops.call[sequence[place]];
    if (call == kNone) return std::nullopt;
    opened.at.push_back(run.trace.calls.start[call]);
    opened.thread = run.trace.calls.thread[call];
  }
  if (!std::is_sorted(opened.at.begin(), opened.at.end())) return std::nullopt;
  return opened;
}

// One iteration from each repeat that follows a meeting (`met`: by repeat, 1 where one lies behind
// it) to the next; nothing where they hold no like number of repeats, or more than `most`.
std::optional<Period> JoinedAt(const Run& run, const Period& period,
                               const std::vector<std::uint8_t>& met, double most) {
  std::vector<std::size_t> after;  // the repeats that follow a meeting
  for (std::size_t i = 0; i < met.size(); ++i) {
    if (met[i] != 0) after.push_back(i + 1);
  }
  if (after.size() < run.knowledge.CountOf("step.min_count")) return std::nullopt;
  std::vector<std::size_t> apart;
  for (std::size_t i = 1; i < after.size(); ++i) apart.push_back(after[i] - after[i - 1]);
  const std::size_t usual = Median(apart);
  const auto even = static_cast<double>(std::count(apart.begin(), apart.end(), usual));
  if (usual < 2 || static_cast<double>(usual) > most ||
      even < run.knowledge.Number("step.stage_even") * static_cast<double>(apart.size()))
    return std::nullopt;
  Period joined = period;
  joined.starts.clear();
  std::vector<std::size_t> tokens_apart;
  for (const std::size_t repeat : after) {
    const std::size_t start = period.starts[repeat];
    if (!joined.starts.empty()) tokens_apart.push_back(start - joined.starts.back());
    joined.starts.push_back(start);
  }
  joined.length = Median(tokens_apart);
  return joined;
}

// Whether an iteration runs kernels that the period, a part of it, does not.
bool HoldsOtherKernels(const Run& run, const std::vector<std::uint32_t>& sequence,
                       const Period& period, const Period& joined) {
  const OpTable& ops = run.trace.ops;
  const std::size_t first = joined.starts.front();
  std::set<std::uint32_t> of_period;
  for (std::size_t i = first; i < first + period.length; ++i) {
    if (ops.kind[sequence[i]] == OpKind::kKernel) of_period.insert(ops.detail[sequence[i]]);
  }
  for (std::size_t i = first; i < joined.starts[1]; ++i) {
    const std::uint32_t op = sequence[i];
    if (ops.kind[op] == OpKind::kKernel && !of_period.contains(ops.detail[op])) return true;
  }
  return false;
}

// Whether collectives run behind most repeats in the first iteration, as behind parts of layers
// that GPUs share.
bool SumsBehind(const Run& run, const std::vector<std::uint32_t>& sequence, const Period& period,
                const Period& joined) {
  const OpTable& ops = run.trace.ops;
  const Nanos from = ops.start[sequence[joined.starts[0]]];
  const Nanos to = ops.start[sequence[joined.starts[1]]];
  const std::uint32_t device = ops.device[sequence[joined.starts[0]]];
  std::size_t sums = 0;
  for (const std::uint32_t op : run.ops_of_device[device])
    sums += run.IsComm(op) && ops.start[op] >= from && ops.start[op] < to ? 1 : 0;
  const auto repeats = std::count_if(
      period.starts.begin(), period.starts.end(),
      [&](std::size_t start) { return start >= joined.starts[0] && start < joined.starts[1]; });
  return 2 * sums > static_cast<std::size_t>(repeats);
}

// By repeat: 1 where its thread launches a send or receive behind it.
std::vector<std::uint8_t> SendsBehind(const Run& run, const Opened& opened) {
  const OpTable& ops = run.trace.ops;
  const std::vector<std::uint32_t> rows = RowsOfCollectives(run.trace);
  std::vector<std::uint8_t> sent(opened.at.size() - 1, 0);
  for (std::uint32_t op = 0; op < ops.size(); ++op) {
    if (!run.IsComm(op) || ops.call[op] == kNone) continue;
    if (run.trace.calls.thread[ops.call[op]] != opened.thread) continue;
    const Nanos at = run.trace.calls.start[ops.call[op]];
    if (at < opened.at.front() || at >= opened.at.back()) continue;
    if (KindOfCollective(run, op, rows.empty() ? kNone : rows[op]) != "sendrecv") continue;
    const auto next = std::upper_bound(opened.at.begin(), opened.at.end(), at);
    sent[static_cast<std::size_t>(next - opened.at.begin()) - 1] = 1;
  }
  return sent;
}

}  // namespace

bool LaunchesGraph(const Run& run, const std::vector<std::uint32_t>& sequence,
                   const Period& period) {
  const std::size_t last = std::min(sequence.size(), period.starts.front() + period.length);
  return std::any_of(sequence.begin() + static_cast<std::ptrdiff_t>(period.starts.front()),
                     sequence.begin() + static_cast<std::ptrdiff_t>(last), [&](std::uint32_t op) {
                       return run.trace.ops.kind[op] == OpKind::kGraph ||
                              run.trace.ops.in_graph[op] != 0;
                     });
}

Period Joined(const Run& run, const std::vector<std::uint32_t>& sequence, const Tokens& tokens,
              const Period& period) {
  const auto opened = OpenedBy(run, sequence, period);
  if (!opened || opened->at.size() < 2) return period;
  const std::vector<std::uint8_t> met = HostMeets(run, opened->at, false, opened->thread);
  const auto all = static_cast<double>(period.starts.size());
  if (LaunchesGraph(run, sequence, period)) {
    const std::optional<Period> of_pieces = JoinedAt(run, period, met, all);
    if (of_pieces && (HoldsOtherKernels(run, sequence, period, *of_pieces) ||
                      SumsBehind(run, sequence, period, *of_pieces)))
      return *of_pieces;
    if (period.length == 1) return period;
  }
  if (!ComputesNothingElse(tokens, period)) return period;
  std::optional<Period> joined;
  if (static_cast<double>(KindsComputed(tokens, period)) <=
      run.knowledge.Number("step.stage_kinds")) {
    joined = JoinedAt(run, period, met, run.knowledge.Number("step.stage_most"));
  }
  if (!joined) {
    joined = JoinedAt(run, period, SendsBehind(run, *opened), all);
  }
  return joined.value_or(period);
}

}  // namespace advise
