// Launches of the same kernel that may be compared over time: which do the same work, and in which
// part of the run each lies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/metrics/losses/loss.h"

namespace advise {

// The parts of a run that are held against each other: its steps; where these are unknown, parts of
// equally many kernels.
class Parts {
 public:
  // `without_steps`: how many parts there are then. O(kernels).
  Parts(const Run& run, const std::vector<std::uint32_t>& kernels, std::size_t without_steps);
  bool AreSteps() const { return steps_; }
  std::size_t first() const { return first_; }
  std::size_t size() const { return size_; }
  // Of the n-th kernel; may be none of them.
  std::uint32_t Of(std::size_t kernel) const { return of_kernel_[kernel]; }

 private:
  bool steps_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> of_kernel_;
};

// The same kernel with the same grid may still do other work (a longer inner dimension of a
// product): in a loop it is the launch at the same place of each step that compares.
// Places compare only where each step makes as many launches; else ranges mark the steps of another
// thread than the one that launches, say, and what is third in one step is fifth in the next.
// Groups of launches by device, shape and place, in that order; without steps, by device and shape.
class Likes {
 public:
  // O(kernels + devices x shapes).
  Likes(const Run& run, const std::vector<std::uint32_t>& kernels, const Parts& parts);
  std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }
  std::span<const std::uint32_t> Ops(std::size_t group) const {
    return std::span(ops_).subspan(first_[group], first_[group + 1] - first_[group]);
  }
  std::span<const Nanos> Lengths(std::size_t group) const {  // of these ops
    return std::span(lengths_).subspan(first_[group], first_[group + 1] - first_[group]);
  }
  std::span<const std::uint32_t> StepsOf(std::size_t group) const {  // of these ops
    return std::span(steps_).subspan(first_[group], first_[group + 1] - first_[group]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> ops_;
  std::vector<Nanos> lengths_;        // side by side, as no column of the trace has them
  std::vector<std::uint32_t> steps_;  // see StepOf
};

}  // namespace advise
