#include "engine/metrics/losses/ranks/unseen_ranks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/base/median.h"
#include "engine/timeline/collective_kind.h"

namespace advise {
namespace {

struct Member {
  std::uint32_t op = 0;
  Nanos length = 0;
};

// Collectives of one kind in one communicator: by how much they move, or, where no report says
// that, by their place in the step, counted below zero.
using Sizes = std::map<std::int64_t, std::vector<Member>>;
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
      for (const auto& [kind, sizes] : kinds_) Compare(devices.front(), sizes);
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
      kinds_[kind][size].push_back({op, Length(op)});
    }
  }

  // What a collective of this size needs: no more than the quick ones of it, than larger ones, or
  // than smaller ones in proportion.
  Nanos NeedOf(std::int64_t size, const std::map<std::int64_t, Nanos>& quick) const {
    Nanos need = std::numeric_limits<Nanos>::max();
    for (const auto& [other, time] : quick) {
      if (size < 0 ? other != size : other <= 0) continue;
      const double larger =
          size > other && other > 0 ? static_cast<double>(size) / static_cast<double>(other) : 1;
      need = std::min(need, static_cast<Nanos>(larger * static_cast<double>(time)));
    }
    return need;
  }

  void Compare(std::uint32_t device, const Sizes& sizes) {
    const auto least = CountOf("comm.like_least");
    const auto late = Time("cluster.late_least");
    const double together = Number("comm.together_share");
    std::map<std::int64_t, Nanos> quick;
    for (const auto& [size, members] : sizes) {
      if (members.size() < least) continue;
      std::vector<Nanos> lengths;
      for (const Member& member : members) lengths.push_back(member.length);
      quick[size] = Quantile(std::move(lengths), Number("comm.quick_call"));
    }
    for (const auto& [size, members] : sizes) {
      const Nanos need = NeedOf(size, quick);
      if (need == std::numeric_limits<Nanos>::max()) continue;
      for (const auto& [op, length] : members) {
        result_.compared += 1;
        const Nanos wait = length - need;
        if (wait <= std::max(late, static_cast<Nanos>(together * static_cast<double>(need))))
          continue;
        const Nanos start = trace_.ops.start[op];
        const IntervalSet exposed = basis_.times[device].comm_exposed.Clip(start, start + wait);
        if (exposed.empty()) continue;
        loss_.Count(start, 0, wait);
        result_.longest_ns = std::max(result_.longest_ns, static_cast<double>(wait));
        loss_.AddSpans(device, exposed);
        loss_.ScaleOp(op, static_cast<float>(need) / static_cast<float>(length));
      }
    }
  }

  LossBuilder loss_;
  std::map<Kind, Sizes> kinds_;
  UnseenRanks result_;
};

}  // namespace

UnseenRanks FindUnseenRanks(const Basis& basis) { return WaitFinder(basis).Find(); }

}  // namespace advise
