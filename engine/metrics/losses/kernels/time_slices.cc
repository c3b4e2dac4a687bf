#include "engine/metrics/losses/kernels/time_slices.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace advise {
namespace {

class SliceFinder : Finder {
 public:
  SliceFinder(const Basis& basis, const std::vector<std::uint32_t>& kernels)
      : Finder(basis),
        enough_(CountOf("kernel.like_calls")),
        least_ns_(Time("kernel.slice_least")),
        usual_(Number("kernel.slice_usual")),
        near_(Number("kernel.slice_near")),
        alike_(Number("kernel.slice_alike")),
        kernels_(kernels),
        waits_(run_.names.Shapes([](const KernelClass& c) { return c.name == "wait"; })) {}

  Loss Find() {
    LossBuilder loss(basis_);
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_device;
    for (const std::uint32_t op : kernels_) of_device[trace_.ops.device[op]].push_back(op);
    for (const auto& [device, ops] : of_device) {
      if (Processes(device) > 1) continue;
      const std::vector<Stretched> turns = Turns(device, ops);
      for (const Stretched& one : turns) {
        loss.Count(trace_.ops.start[one.op], 0, one.beyond);
        loss.AddOpBeyond(one.op, Length(one.op) - one.beyond);
        loss.ScaleOp(one.op,
                     1 - static_cast<double>(one.beyond) / static_cast<double>(Length(one.op)));
      }
    }
    return loss.Build();
  }

 private:
  struct Stretched {
    std::uint32_t op = 0;
    Nanos beyond = 0;  // what the same kernel usually takes
  };

  std::size_t Processes(std::uint32_t device) const {
    std::set<std::uint32_t> processes;
    for (const Stream& stream : trace_.streams) {
      if (stream.device == device && stream.process != kNone) processes.insert(stream.process);
    }
    return processes.size();
  }

  // The stretched launches of the device, if they are turns of another process.
  std::vector<Stretched> Turns(std::uint32_t device, const std::vector<std::uint32_t>& ops) const {
    const std::map<std::uint32_t, Nanos> usual = UsualLengths(ops);
    std::vector<Stretched> turns;
    std::set<std::uint32_t> shapes;
    bool follows = false;  // the launch before was stretched, too
    std::size_t in_a_row = 0;
    for (const std::uint32_t op : ops) {
      const auto known = usual.find(trace_.ops.detail[op]);
      const Nanos beyond = known == usual.end() ? 0 : Length(op) - known->second;
      const bool stretched =
          beyond >=
          std::max(least_ns_,
                   static_cast<Nanos>(
                       near_ * static_cast<double>(known == usual.end() ? 0 : known->second)));
      if (stretched) {
        turns.push_back({op, beyond});
        shapes.insert(trace_.ops.detail[op]);
        if (follows) ++in_a_row;
      }
      follows = stretched;
    }
    // A step with more to do stretches kernel after kernel, and a kernel whose data decides how
    // much there is to do is alone in that.
    const std::size_t others = turns.size() - std::min(turns.size(), in_a_row);
    if (turns.size() < enough_ || shapes.size() < 2) return {};
    if (static_cast<double>(others) < alike_ * static_cast<double>(turns.size())) return {};
    std::vector<Nanos> beyonds;
    for (const Stretched& one : turns) beyonds.push_back(one.beyond);
    const Nanos middle = Median(beyonds);
    const auto like = std::count_if(beyonds.begin(), beyonds.end(), [&](Nanos beyond) {
      return 2 * beyond >= middle && beyond <= 2 * middle;
    });
    if (static_cast<double>(like) < alike_ * static_cast<double>(turns.size())) return {};
    RemoveAccompanied(device, &turns);
    return turns.size() < enough_ ? std::vector<Stretched>{} : turns;
  }

  // By shape: the median, where nearly all launches take about that.
  std::map<std::uint32_t, Nanos> UsualLengths(const std::vector<std::uint32_t>& ops) const {
    std::map<std::uint32_t, std::vector<Nanos>> lengths;
    for (const std::uint32_t op : ops) {
      if (!waits_.Has(trace_.ops.detail[op])) lengths[trace_.ops.detail[op]].push_back(Length(op));
    }
    std::map<std::uint32_t, Nanos> usual;
    for (const auto& [shape, all] : lengths) {
      if (all.size() < enough_) continue;
      const Nanos median = Median(all);
      const auto near = std::count_if(all.begin(), all.end(), [&](Nanos length) {
        return static_cast<double>(length) <= near_ * static_cast<double>(median);
      });
      if (static_cast<double>(near) >= usual_ * static_cast<double>(all.size()))
        usual[shape] = median;
    }
    return usual;
  }

  // What runs beside other recorded work may be slow because of that.
  void RemoveAccompanied(std::uint32_t device, std::vector<Stretched>* turns) const {
    std::set<std::uint32_t> accompanied;
    std::uint32_t last = kNone;  // of those so far, the one that ends last
    for (const std::uint32_t op : run_.ops_of_device[device]) {
      if (last != kNone && trace_.ops.start[op] < trace_.ops.end[last]) {
        accompanied.insert(last);
        accompanied.insert(op);
      }
      if (last == kNone || trace_.ops.end[op] > trace_.ops.end[last]) last = op;
    }
    std::erase_if(*turns, [&](const Stretched& one) { return accompanied.contains(one.op); });
  }

  std::size_t enough_;
  Nanos least_ns_;
  double usual_;
  double near_;
  double alike_;
  const std::vector<std::uint32_t>& kernels_;
  const ShapeSet waits_;
};

}  // namespace

Loss FindTimeSlices(const Basis& basis, const std::vector<std::uint32_t>& kernels) {
  return SliceFinder(basis, kernels).Find();
}

}  // namespace advise
