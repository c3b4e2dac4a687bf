// Steps of training from what every step of it does once: it updates the weights, or, where no
// kernel says so by its name, it runs a backward pass. Batches of an evaluation, several batches
// for one update, and layers that each copy their weights repeat oftener than that.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "engine/base/median.h"
#include "engine/timeline/step.h"

namespace advise {
namespace {

// An update of the weights, or a backward pass, as a device runs it.
struct StepMark {
  Nanos end = 0;
  std::size_t products = 0;  // that the device computed since the mark before it
};

class StepMarkFinder {
 public:
  explicit StepMarkFinder(const Run& run)
      : run_(run),
        updates_(run.names.Shapes([](const KernelClass& c) { return c.name == "optimizer"; })),
        products_(run.names.Shapes([](const KernelClass& c) { return c.Multiplies(); })) {}

  // Of the device with most of them.
  std::vector<StepMark> Find() const {
    std::map<std::uint32_t, OnDevice> devices;
    const OpTable& ops = run_.trace.ops;
    const bool named = !updates_.empty();
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      if (ops.kind[op] != OpKind::kKernel) continue;
      OnDevice& device = devices[ops.device[op]];
      const bool product = products_.Has(ops.detail[op]);
      const bool marks = named ? updates_.Has(ops.detail[op]) : product && IsBackward(op);
      if (marks) {
        if (!device.open) device.marks.push_back({0, std::exchange(device.products, 0)});
        device.open = true;
        device.marks.back().end = std::max(device.marks.back().end, ops.end[op]);
      } else if (product) {
        device.open = false;
      }
      device.products += product ? 1 : 0;
    }
    std::vector<StepMark> most;
    for (auto& [id, device] : devices)
      if (device.marks.size() > most.size()) most = std::move(device.marks);
    return most;
  }

 private:
  struct OnDevice {
    std::vector<StepMark> marks;
    std::size_t products = 0;
    bool open = false;  // no other product since the last mark
  };

  bool IsBackward(std::uint32_t op) const {
    const std::uint32_t call = run_.trace.ops.call[op];
    return call != kNone && run_.names.ThreadRole(run_.trace.calls.thread[call]) == Role::kAutograd;
  }

  const Run& run_;
  const ShapeSet updates_, products_;
};

// Most steps compute about as many products: what is done to each layer, or in turn for parts of a
// model, does not.
bool AreAlike(const Run& run, const std::vector<StepMark>& marks) {
  std::vector<std::size_t> products;
  for (std::size_t i = 1; i < marks.size(); ++i) products.push_back(marks[i].products);
  const double usual = static_cast<double>(Median(products));
  const double room = run.knowledge.Number("step.training_room") * usual;
  const auto alike = std::count_if(products.begin(), products.end(), [&](std::size_t count) {
    return std::abs(static_cast<double>(count) - usual) <= room;
  });
  return usual > 0 && static_cast<double>(alike) >= run.knowledge.Number("step.training_alike") *
                                                        static_cast<double>(products.size());
}

}  // namespace

Steps StepsFromTraining(const Run& run) {
  const std::vector<StepMark> marks = StepMarkFinder(run).Find();
  if (marks.size() <= run.knowledge.CountOf("step.min_count") || !AreAlike(run, marks)) return {};
  Steps steps;
  for (std::size_t i = 1; i < marks.size(); ++i)
    steps.all.push_back({marks[i - 1].end, marks[i].end});
  steps.source = "period";
  steps.of_device = true;
  SplitWarmup(run, {}, &steps);
  return steps;
}

bool AreParts(const Run& run, const Steps& parts, const Steps& steps) {
  const Nanos from = steps.all.front().start;
  const Nanos to = steps.all.back().end;
  const auto within = std::count_if(parts.all.begin(), parts.all.end(), [&](const Step& part) {
    return part.start >= from && part.start < to;
  });
  return static_cast<double>(within) >
         (1 + run.knowledge.Number("step.training_room")) * static_cast<double>(steps.all.size()) +
             1;
}

}  // namespace advise
