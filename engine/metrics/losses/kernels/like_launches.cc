#include "engine/metrics/losses/kernels/like_launches.h"

#include <numeric>

namespace advise {

Parts::Parts(const Run& run, const std::vector<std::uint32_t>& kernels, std::size_t without_steps)
    : steps_(run.steps.known()) {
  if (steps_) {
    first_ = run.steps.first_steady;
    size_ = run.steps.all.size();
    for (const std::uint32_t op : kernels) of_kernel_.push_back(StepOf(run, op));
    return;
  }
  size_ = without_steps;
  const std::vector<Nanos>& starts = run.trace.ops.start;
  std::uint32_t part = 0;
  for (const std::uint32_t op : kernels) {
    while (part + 1 < size_ && starts[op] >= starts[kernels[(part + 1) * kernels.size() / size_]])
      ++part;
    of_kernel_.push_back(part);
  }
}

Likes::Likes(const Run& run, const std::vector<std::uint32_t>& kernels, const Parts& parts) {
  const OpTable& ops = run.trace.ops;
  const std::size_t shapes = run.trace.shapes.size();
  // By device and shape: how often met in the step at hand, and the group of each place.
  struct Places {
    std::uint32_t step = 0;
    std::size_t met = 0;
    std::size_t usual = 0;  // launches per step, between the first and the last step
    bool regular = true;
    std::vector<std::uint32_t> groups;

    void Enter(std::uint32_t next, std::uint32_t first) {
      if (next == step) return;
      if (step > first) {
        if (usual == 0) usual = met;
        regular = regular && met == usual && next == step + 1;
      }
      step = next;
      met = 0;
    }
  };
  std::vector<Places> places(run.trace.devices.size() * shapes);
  std::vector<std::uint32_t> group_of(kernels.size(), kNone);
  std::uint32_t groups = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::uint32_t op = kernels[i];
    const std::uint32_t step = parts.Of(i);
    if (step < parts.first() || step >= parts.size()) continue;
    Places& place = places[ops.device[op] * shapes + ops.detail[op]];
    if (parts.AreSteps())
      place.Enter(step, static_cast<std::uint32_t>(parts.first()));
    else
      place.met = 0;
    if (place.met == place.groups.size()) place.groups.push_back(groups++);
    group_of[i] = place.groups[place.met++];
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::uint32_t op = kernels[i];
    if (!places[ops.device[op] * shapes + ops.detail[op]].regular) group_of[i] = kNone;
  }
  // Numbered anew in the order of devices, shapes and places, then sorted by counting.
  std::vector<std::uint32_t> number(groups);
  std::uint32_t next = 0;
  for (const Places& place : places) {
    for (const std::uint32_t group : place.groups) number[group] = next++;
  }
  first_.assign(groups + 1, 0);
  for (const std::uint32_t group : group_of) {
    if (group != kNone) ++first_[number[group] + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<std::size_t> at(first_.begin(), first_.end() - 1);
  ops_.resize(first_.back());
  steps_.resize(ops_.size());
  lengths_.resize(first_.back());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (group_of[i] == kNone) continue;
    const std::size_t row = at[number[group_of[i]]]++;
    ops_[row] = kernels[i];
    lengths_[row] = ops.end[kernels[i]] - ops.start[kernels[i]];
    steps_[row] = parts.Of(i);
  }
}

}  // namespace advise
