#include "engine/metrics/losses/ranks/unseen_ranks.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/metrics/losses/ranks/collective_needs.h"
#include "engine/timeline/collective_kind.h"

namespace advise {
namespace {

struct Member {
  std::uint32_t op = 0;
  std::int64_t size = 0;  // as in CollectiveNeeds
};

// Collectives of one kind in one communicator.
struct Compared {
  CollectiveNeeds needs;
  std::vector<Member> members;
};
using Kind = std::tuple<std::string, std::uint32_t, std::uint32_t>;  // name, group, stream

class WaitFinder : Finder {
 public:
  explicit WaitFinder(const Basis& basis) : Finder(basis), loss_(basis) {}

  UnseenRanks Find() {
    std::vector<std::uint32_t> devices;
    for (const std::uint32_t d : run_.active_devices) {
      if (!basis_.times[d].comm.empty()) devices.push_back(d);
    }
    if (devices.size() == 1) {
      Sort(devices.front());
      for (const auto& [kind, likes] : kinds_) Compare(devices.front(), likes);
    }
    result_.loss = loss_.Build();
    return std::move(result_);
  }

 private:
  void Sort(std::uint32_t device) {
    const CollectiveTable& table = trace_.collectives;
    const std::vector<std::uint32_t> rows = RowsOfCollectives(trace_);
    std::map<Kind, std::pair<std::uint32_t, std::int64_t>> places;  // step, number in it
    for (const std::uint32_t op : run_.ops_of_device[device]) {
      if (!run_.IsComm(op) || !basis_.InLoop(trace_.ops.start[op])) continue;
      const std::uint32_t row = rows.empty() ? kNone : rows[op];
      const std::string name = KindOfCollective(run_, op, row);
      // A message waits for its sender: how long that takes is the other side's matter.
      if (name == "sendrecv") continue;
      const Kind kind{name, row == kNone ? kNone : table.group[row], trace_.ops.stream[op]};
      std::int64_t size = row == kNone ? -1 : std::max(table.in_bytes[row], table.out_bytes[row]);
      if (size < 0) {
        const std::uint32_t step = run_.steps.At(trace_.ops.start[op]);
        if (step == kNone) continue;
        auto& [last, number] = places[kind];
        number = last == step ? number + 1 : 1;
        last = step;
        size = -number;
      }
      kinds_[kind].needs.Add(size, Length(op));
      kinds_[kind].members.push_back({op, size});
    }
  }

  void Compare(std::uint32_t device, const Compared& likes) {
    const auto needs = likes.needs.Settle(run_.knowledge);
    for (const auto& [op, size] : likes.members) {
      const CollectiveNeeds::Need need = needs.at(size);
      if (need.time < 0) continue;
      result_.compared += 1;
      const Nanos length = Length(op);
      const Nanos wait = length - need.time;
      if (!IsWait(wait, need.time, run_.knowledge)) continue;
      const Nanos start = trace_.ops.start[op];
      const IntervalSet exposed = basis_.times[device].comm_exposed.Clip(start, start + wait);
      if (exposed.empty()) continue;
      loss_.Count(start, 0, wait);
      result_.longest_ns = std::max(result_.longest_ns, static_cast<double>(wait));
      result_.by_places += need.of_places ? 1 : 0;
      loss_.AddSpans(device, exposed);
      loss_.ScaleOp(op, static_cast<float>(need.time) / static_cast<float>(length));
    }
  }

  LossBuilder loss_;
  std::map<Kind, Compared> kinds_;
  UnseenRanks result_;
};

}  // namespace

UnseenRanks FindUnseenRanks(const Basis& basis) { return WaitFinder(basis).Find(); }

}  // namespace advise
