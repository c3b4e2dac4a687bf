#include "engine/metrics/losses/launches/looped_experts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace advise {
namespace {

// One expert's turn: from the kernel that gathers its rows to the one that adds the products.
struct Round {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
  std::vector<std::uint32_t> kernels;
  bool multiplies = false;
};

class ExpertFinder : Finder {
 public:
  ExpertFinder(const Basis& basis, const std::vector<std::uint32_t>& kernels)
      : Finder(basis),
        small_ns_(Number("kernel.train_small")),
        least_rounds_(CountOf("kernel.train_length")),
        most_kernels_(CountOf("kernel.expert_kernels")),
        room_(Number("kernel.room_share")),
        gathers_(OfFamily("row_gather")),
        adds_(OfFamily("row_add")),
        products_(run_.names.Shapes([](const KernelClass& c) { return c.name == "matrix"; })),
        kernels_(kernels),
        loss_(basis) {}

  LoopedExperts Find() {
    std::vector<Loop> open(trace_.streams.size() + 1);
    for (const std::uint32_t op : kernels_) {
      Loop& loop = open[std::min<std::size_t>(trace_.ops.stream[op], open.size() - 1)];
      if (LengthNs(op) > small_ns_ || trace_.ops.in_graph[op] != 0) {
        Close(&loop);
        continue;
      }
      Take(op, &loop);
    }
    for (Loop& loop : open) Close(&loop);
    LoopedExperts found;
    if (loss_.count() > 0) found.experts = rounds_ / static_cast<double>(loss_.count());
    loss_.RemoveFromHost(Joined(std::move(host_)));
    found.loss = loss_.Build();
    return found;
  }

 private:
  struct Loop {
    std::vector<Round> rounds;
    Round now;                // not ended yet
    std::size_t between = 0;  // kernels since the last round, or in the one that has not ended
  };

  std::vector<std::uint8_t> OfFamily(const char* family) const {
    std::vector<std::uint8_t> is(trace_.shapes.size(), 0);
    for (std::uint32_t shape = 0; shape < is.size(); ++shape) {
      is[shape] = run_.knowledge.IsOfFamily(FamilyKind::kKernel, family,
                                            trace_.strings[trace_.shapes[shape].name],
                                            run_.names.Kernel(shape).name)
                      ? 1
                      : 0;
    }
    return is;
  }

  void Take(std::uint32_t op, Loop* loop) {
    const std::uint32_t shape = trace_.ops.detail[op];
    Round& now = loop->now;
    if (++loop->between > most_kernels_) {
      Close(loop);
      return;
    }
    // A round begins with its rows; weights of the same rows may be gathered later.
    if (gathers_[shape] != 0 && !now.multiplies) now = {op, kNone, {}, false};
    if (now.first == kNone) return;
    now.kernels.push_back(op);
    now.multiplies = now.multiplies || products_.Has(shape);
    if (!now.multiplies || adds_[shape] == 0) return;
    now.last = op;
    loop->rounds.push_back(std::exchange(now, {}));
    loop->between = 0;
  }

  // The part of the kernel's time that is left when the rounds are one launch.
  double Left(std::uint32_t op, std::size_t rounds) const {
    const double sms = trace_.devices[trace_.ops.device[op]].sm_count;
    const auto blocks = static_cast<double>(Shape(op).Blocks());
    if (sms <= 0 || blocks <= 0) return 1;
    // Products read weights, for whose bandwidth part of the SMs is enough.
    const double fill = blocks / (products_.Has(trace_.ops.detail[op]) ? room_ * sms : sms);
    return std::clamp(fill, 1 / static_cast<double>(rounds), 1.0);
  }

  void Close(Loop* loop) {
    const std::vector<Round> rounds = std::move(loop->rounds);
    *loop = {};
    if (rounds.size() < least_rounds_) return;
    const std::uint32_t before = rounds.front().last;
    const std::uint32_t last = rounds.back().last;
    const Nanos from = trace_.ops.end[before];
    const Nanos to = trace_.ops.end[last];
    const std::uint32_t device = trace_.ops.device[last];
    loss_.Count(trace_.ops.start[rounds.front().first], 0,
                to - trace_.ops.start[rounds.front().first]);
    loss_.AddSpans(device, basis_.times[device].idle.Clip(from, to));
    rounds_ += static_cast<double>(rounds.size());
    std::map<std::uint32_t, double> left;
    for (std::size_t i = 1; i < rounds.size(); ++i) {
      for (const std::uint32_t op : rounds[i].kernels) left[op] = Left(op, rounds.size());
    }
    // What else runs between them finds the rows of the next expert, or tells the host how many.
    for (std::uint32_t op = before + 1; op <= last; ++op) {
      if (trace_.ops.stream[op] != trace_.ops.stream[last]) continue;
      const auto known = left.find(op);
      const double part = known == left.end() ? 0 : known->second;
      if (part >= 1) continue;
      loss_.AddSpan(device, trace_.ops.end[op] - static_cast<Nanos>((1 - part) * LengthNs(op)),
                    trace_.ops.end[op]);
      loss_.ScaleOp(op, part);
    }
    const std::uint32_t begin = trace_.ops.call[before];
    const std::uint32_t end = trace_.ops.call[last];
    if (begin == kNone || end == kNone) return;
    const CallTable& calls = trace_.calls;
    if (calls.thread[begin] == calls.thread[end] && calls.end[begin] < calls.end[end])
      host_[calls.thread[end]].push_back({calls.end[begin], calls.end[end]});
  }

  double small_ns_;
  std::size_t least_rounds_;
  std::size_t most_kernels_;
  double room_;
  const std::vector<std::uint8_t> gathers_;  // by shape
  const std::vector<std::uint8_t> adds_;
  const ShapeSet products_;
  const std::vector<std::uint32_t>& kernels_;
  LossBuilder loss_;
  std::map<std::uint32_t, std::vector<Interval>>
      host_;  // of the rounds behind the first, by thread
  double rounds_ = 0;
};

}  // namespace

LoopedExperts FindLoopedExperts(const Basis& basis, const std::vector<std::uint32_t>& kernels) {
  return ExpertFinder(basis, kernels).Find();
}

}  // namespace advise
