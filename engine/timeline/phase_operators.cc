// The forward and backward pass from a framework's operators. Backward operators have names of
// their own ("autograd::engine::evaluate_function: MulBackward0"); a pass is a train of them that
// no other work of the program interrupts. The forward pass is what autograd recorded before it:
// operators with a sequence number, since the last pass. Where no operator has such a number,
// nothing tells where a train ends: then each backward operator stands for itself.
#include <algorithm>
#include <vector>

#include "engine/timeline/phase.h"

namespace advise {
namespace {

struct Piece {
  Nanos start = 0;
  Nanos end = 0;
  bool backward = false;
};

// The outermost operators of a process that are backward, or forward: recorded by autograd outside
// of any backward operator. In time order.
std::vector<Piece> PiecesOf(const Run& run, std::uint32_t process,
                            const std::vector<std::uint8_t>& is_backward) {
  const OperatorTable& operators = run.trace.operators;
  std::vector<Piece> pieces;
  const std::vector<RowRange> rows = RowsByThread(operators.thread, run.trace.threads.size());
  for (std::uint32_t t = 0; t < rows.size(); ++t) {
    if (run.trace.threads[t].process != process || rows[t].empty()) continue;
    Nanos inside_until = operators.start[rows[t].first];
    for (const std::uint32_t row : rows[t]) {
      if (operators.start[row] < inside_until) continue;
      const bool backward = is_backward[operators.name[row]] != 0;
      if (!backward && operators.payload[row] < 0) continue;
      pieces.push_back({operators.start[row], operators.end[row], backward});
      inside_until = operators.end[row];
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return a.start != b.start ? a.start < b.start : a.end < b.end;
  });
  return pieces;
}

// What the pieces come to. `named` is work that the program names itself: no part of either pass,
// and what separates them.
struct Passes {
  std::vector<Interval> forward;
  std::vector<Interval> backward;
};
Passes PassesOf(const std::vector<Piece>& pieces, const IntervalSet& named) {
  Passes passes;
  Interval pending;  // the forward pass so far; its backward pass is still to come
  bool has_pending = false;
  bool in_backward = false;
  const bool numbered =
      std::any_of(pieces.begin(), pieces.end(), [](const Piece& piece) { return !piece.backward; });
  for (const Piece& piece : pieces) {
    if (piece.backward) {
      if (has_pending) passes.forward.push_back(pending);
      has_pending = false;
      Interval* const last = passes.backward.empty() ? nullptr : &passes.backward.back();
      if (numbered && in_backward && last != nullptr &&
          named.OverlapWith(last->end, piece.start) == 0) {
        last->end = std::max(last->end, piece.end);
      } else {
        passes.backward.push_back({piece.start, piece.end});
      }
      in_backward = true;
    } else if (named.Contains(piece.start)) {
      in_backward = false;
    } else if (passes.backward.empty() || piece.start >= passes.backward.back().end) {
      if (!has_pending) pending = {piece.start, piece.end};
      pending.end = std::max(pending.end, piece.end);
      has_pending = true;
      in_backward = false;
    }
  }
  return passes;
}

}  // namespace

void Phases::FromOperators(const Run& run) {
  constexpr auto kForwardSlot = static_cast<std::size_t>(Phase::kForward);
  constexpr auto kBackwardSlot = static_cast<std::size_t>(Phase::kBackward);
  if (known_[kForwardSlot] || known_[kBackwardSlot] || run.trace.operators.size() == 0) return;
  constexpr std::uint8_t kNotAsked = 2;
  std::vector<std::uint8_t> is_backward(run.trace.strings.size(), kNotAsked);
  for (const StringId name : run.trace.operators.name) {
    if (is_backward[name] != kNotAsked) continue;
    is_backward[name] = run.knowledge.RangePhase(run.trace.strings[name]) == "backward" ? 1 : 0;
  }
  for (std::uint32_t p = 0; p < sets_.size(); ++p) {
    IntervalSet named;
    for (std::size_t phase = kBackwardSlot + 1; phase < kCount; ++phase) {
      if (static_cast<Phase>(phase) != Phase::kCommunication) named = named.Union(sets_[p][phase]);
    }
    Passes passes = PassesOf(PiecesOf(run, p, is_backward), named);
    IntervalSet& backward = sets_[p][kBackwardSlot];
    IntervalSet& forward = sets_[p][kForwardSlot];
    backward = IntervalSet::Of(std::move(passes.backward)).Subtract(named);
    forward = IntervalSet::Of(std::move(passes.forward)).Subtract(named).Subtract(backward);
    known_[kBackwardSlot] = known_[kBackwardSlot] || !backward.empty();
    known_[kForwardSlot] = known_[kForwardSlot] || !forward.empty();
  }
}

}  // namespace advise
