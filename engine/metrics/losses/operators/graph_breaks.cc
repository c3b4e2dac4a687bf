#include "engine/metrics/losses/operators/graph_breaks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/timeline/operator_families.h"

namespace advise {
namespace {

class BreakFinder : Finder {
 public:
  explicit BreakFinder(const Basis& basis)
      : Finder(basis), loss_(basis), names_(basis.run, {"compiled_piece"}) {}

  GraphBreaks Find() {
    if (run_.steps.known()) {
      const std::vector<RowRange> operators =
          RowsByThread(trace_.operators.thread, trace_.threads.size());
      for (const std::uint32_t thread : run_.launching_threads) {
        std::vector<Piece> pieces;
        Collect(trace_.operators, operators[thread], &pieces);
        Collect(trace_.ranges, run_.ranges_of_thread[thread], &pieces);
        Between(thread, std::move(pieces));
      }
    }
    const HostTime when = Joined(std::move(breaks_));
    loss_.AddIdleInside(when);
    loss_.RemoveFromHost(when);
    GraphBreaks result;
    result.loss = loss_.Build();
    result.pieces = frames_.size();
    return result;
  }

 private:
  struct Piece {
    Nanos start, end;
    StringId name;
  };

  // Kineto records the pieces as operators, Nsight Systems as ranges.
  template <typename Table, typename Rows>
  void Collect(const Table& table, const Rows& rows, std::vector<Piece>* pieces) {
    for (const std::uint32_t row : rows) {
      if (basis_.InLoop(table.start[row]) && names_.Of(table.name[row]) == 0)
        pieces->push_back({table.start[row], table.end[row], table.name[row]});
    }
  }

  // Which part of the program it is: "Torch-Compiled Region: 3/1" is part 3, compiled a second
  // time.
  std::string_view Frame(StringId name) const {
    const std::string_view all = trace_.strings[name];
    return all.substr(0, all.rfind('/'));
  }

  // A layer that was compiled by itself runs many times on purpose: it is no piece of a whole.
  void Between(std::uint32_t thread, std::vector<Piece> pieces) {
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.start < b.start; });
    const Piece* last = nullptr;
    for (const Piece& piece : pieces) {
      if (last != nullptr && piece.start < last->end) continue;  // inside it
      frames_.insert(Frame(piece.name));
      if (last != nullptr && Frame(last->name) != Frame(piece.name) &&
          run_.steps.At(last->start) == run_.steps.At(piece.start)) {
        loss_.Count(last->end, 0, piece.start - last->end);
        breaks_[thread].push_back({last->end, piece.start});
      }
      last = &piece;
    }
  }

  LossBuilder loss_;
  OperatorFamilies names_;
  std::set<std::string_view> frames_;
  std::map<std::uint32_t, std::vector<Interval>> breaks_;  // by thread
};

}  // namespace

GraphBreaks FindGraphBreaks(const Basis& basis) { return BreakFinder(basis).Find(); }

}  // namespace advise
