#include "engine/metrics/losses/ranks/late_device.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "engine/timeline/collective_match.h"

namespace advise {
namespace {

class LateFinder : Finder {
 public:
  explicit LateFinder(const Basis& basis) : Finder(basis) {}

  // In a collective the rank with the shortest kernel came last: the others had been waiting for
  // it.
  LateDevice Find() {
    LossBuilder loss(basis_);
    const std::vector<std::uint32_t> devices = Communicating();
    std::vector<std::vector<std::uint32_t>> collectives = MatchCollectives(run_);
    std::erase_if(collectives, [&](const auto& group) {
      return !basis_.InWindow(trace_.ops.start[group.front()]);
    });
    std::map<std::uint32_t, std::size_t> last_at;
    std::map<std::uint32_t, double> lateness;
    std::map<std::uint32_t, double> waited_for;
    double waited_for_any = 0;
    const double together = Number("comm.together_share");
    for (const auto& group : collectives) {
      std::vector<std::pair<Nanos, std::uint32_t>> starts;
      Nanos shortest = std::numeric_limits<Nanos>::max();
      for (const std::uint32_t op : group) {
        starts.emplace_back(trace_.ops.start[op], trace_.ops.device[op]);
        shortest = std::min(shortest, Length(op));
      }
      std::sort(starts.begin(), starts.end());
      const Nanos median = starts[(starts.size() - 1) / 2].first;
      if (starts.back().first - median <=
          static_cast<Nanos>(together * static_cast<double>(shortest)))
        continue;  // together, as far as it matters
      ++last_at[starts.back().second];
      for (const std::uint32_t op : group) {
        const auto waited =
            static_cast<double>(basis_.times[trace_.ops.device[op]].comm_exposed.OverlapWith(
                trace_.ops.start[op], std::min(starts.back().first, trace_.ops.end[op])));
        waited_for[starts.back().second] += waited;
        waited_for_any += waited;
      }
      lateness[starts.back().second] += static_cast<double>(starts.back().first - median);
    }
    for (const auto& [d, times] : last_at) {
      const auto weight = [&](std::uint32_t device) {
        return std::pair(waited_for[device], lateness[device]);
      };
      if (result_.device == kNone || weight(d) > weight(result_.device)) result_.device = d;
    }
    if (result_.device != kNone) {
      const std::size_t times = last_at[result_.device];
      result_.share = waited_for_any > 0 ? waited_for[result_.device] / waited_for_any : 0;
      result_.lateness_ns = lateness[result_.device] / static_cast<double>(times);
      const double waited = Waiting(collectives, &loss);
      Cause(devices, waited / static_cast<double>(devices.size() - 1), &loss);
    }
    result_.loss = loss.Build();
    return std::move(result_);
  }

 private:
  std::vector<std::uint32_t> Communicating() const {
    std::vector<std::uint8_t> talks(trace_.devices.size(), 0);
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (run_.IsComm(op) && basis_.InWindow(trace_.ops.start[op]))
        talks[trace_.ops.device[op]] = 1;
    }
    std::vector<std::uint32_t> devices;
    for (const std::uint32_t d : run_.active_devices) {
      if (talks[d] != 0) devices.push_back(d);
    }
    return devices;
  }

  // What the others spend inside collectives before the late one arrives; the sum over them.
  double Waiting(const std::vector<std::vector<std::uint32_t>>& collectives, LossBuilder* loss) {
    double sum = 0;
    for (const auto& group : collectives) {
      Nanos arrives = 0;
      for (const std::uint32_t op : group) {
        if (trace_.ops.device[op] == result_.device) arrives = trace_.ops.start[op];
      }
      for (const std::uint32_t op : group) {
        const std::uint32_t d = trace_.ops.device[op];
        if (d == result_.device || trace_.ops.start[op] >= arrives) continue;
        const IntervalSet waits = basis_.times[d].comm_exposed.Clip(
            trace_.ops.start[op], std::min(arrives, trace_.ops.end[op]));
        loss->AddSpans(d, waits);
        sum += static_cast<double>(waits.Total());
        loss->Count(trace_.ops.start[op], 0, arrives - trace_.ops.start[op]);
      }
    }
    return sum;
  }

  // What the late device does more of than the median one; the fix brings that down to the
  // next-latest.
  void Cause(const std::vector<std::uint32_t>& devices, double waited_ns, LossBuilder* loss) {
    const std::uint32_t late = result_.device;
    const auto excess = [&](auto value_of) {
      std::vector<double> others;
      for (const std::uint32_t d : devices) {
        if (d != late) others.push_back(value_of(d));
      }
      return std::pair<double, double>{value_of(late) - Median(others), value_of(late)};
    };
    const auto compute =
        excess([&](std::uint32_t d) { return static_cast<double>(basis_.times[d].ComputeNs()); });
    if (compute.first >= Number("comm.late_share") * waited_ns && compute.second > 0) {
      const bool same_work = SameKernels(devices);
      result_.cause =
          same_work ? "the same kernels run more slowly there" : "it has more work on the GPU";
      const auto factor = static_cast<float>(std::max(0.0, 1 - compute.first / compute.second));
      for (const std::uint32_t op : run_.ops_of_device[late]) {
        if (trace_.ops.kind[op] == OpKind::kKernel && !run_.IsComm(op) &&
            basis_.InWindow(trace_.ops.start[op])) {
          loss->ScaleOp(op, factor);
        }
      }
      return;
    }
    std::size_t worst = 0;
    std::pair<double, double> most{0, 0};
    for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
      const auto more =
          excess([&](std::uint32_t d) { return static_cast<double>(basis_.idle.by_device[d][c]); });
      if (more.first > most.first) most = more, worst = c;
    }
    const auto cause = static_cast<IdleCause>(worst);
    result_.cause = WordsOf(cause).late;
    if (cause == IdleCause::kDataLoading || cause == IdleCause::kFileIo)
      loss->remedy().data_ready = true;
    if (most.second <= 0) return;
    const double part = most.first / most.second;
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.device != late || piece.cause != cause || basis_.idle.ThreadOf(piece) == kNone)
        continue;
      const auto length = static_cast<Nanos>(part * static_cast<double>(piece.Length()));
      loss->CutHost(basis_.idle.ThreadOf(piece), piece.end - length, piece.end);
    }
  }

  // As many compute kernels on the late device as on the others.
  bool SameKernels(const std::vector<std::uint32_t>& devices) const {
    std::vector<double> counts;
    double late = 0;
    for (const std::uint32_t d : devices) {
      double count = 0;
      for (const std::uint32_t op : run_.ops_of_device[d]) {
        if (trace_.ops.kind[op] == OpKind::kKernel && basis_.InWindow(trace_.ops.start[op]))
          ++count;
      }
      if (d == result_.device) {
        late = count;
      } else {
        counts.push_back(count);
      }
    }
    return late <= Number("rank.more_kernels") * Median(counts);
  }

  LateDevice result_;
};

}  // namespace

LateDevice FindLateDevice(const Basis& basis) { return LateFinder(basis).Find(); }

}  // namespace advise
