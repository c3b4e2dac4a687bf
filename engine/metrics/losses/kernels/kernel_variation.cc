#include "engine/metrics/losses/kernels/kernel_variation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "engine/metrics/losses/kernels/data_growth.h"
#include "engine/metrics/losses/kernels/kernel_tallies.h"
#include "engine/metrics/losses/kernels/like_launches.h"
#include "engine/metrics/losses/kernels/time_slices.h"

namespace advise {
namespace {

// How long the kernels of each part take, as a multiple of what their places usually take.
class Paces {
 public:
  static constexpr std::size_t kLeast = 3;  // steps on each side of a turn

  Paces(const Run& run, const Likes& likes, const Parts& parts)
      : run_(run),
        first_(parts.first()),
        ratios_(parts.size()),
        taken_(parts.size(), 0),
        usual_(parts.size(), 0),
        pace_(parts.size(), 0),
        least_(run.knowledge.Number("kernel.pace_kernels")) {
    for (std::size_t group = 0; group < likes.size(); ++group) {
      const std::span<const std::uint32_t> ops = likes.Ops(group);
      usual_of_group_.push_back(0);
      if (ops.size() < 2 * kLeast) continue;
      const std::span<const Nanos> lengths = likes.Lengths(group);
      const std::span<const std::uint32_t> steps = likes.StepsOf(group);
      usual_of_group_.back() = Median(std::vector<Nanos>(lengths.begin(), lengths.end()));
      const auto median = static_cast<double>(usual_of_group_.back());
      if (median <= 0) continue;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const std::uint32_t step = steps[i];
        const auto length = static_cast<double>(lengths[i]);
        ratios_[step].push_back(static_cast<float>(length / median));
        taken_[step] += length;
        usual_[step] += median;
      }
    }
  }

  // Of the kernels of this group, where they are enough for a turn: the median length.
  Nanos Usual(std::size_t group) const { return usual_of_group_[group]; }

  // Of the kernels of this op's step: the median multiple. 1 where they are too few to tell. O(1),
  // once it was asked of the step; few steps are asked for.
  double Of(std::uint32_t op) {
    const std::uint32_t step = StepOf(run_, op);
    if (pace_[step] == 0) {
      std::vector<float>& ratios = ratios_[step];
      const bool tells = static_cast<double>(ratios.size()) >= least_;
      pace_[step] = tells ? static_cast<double>(MedianInPlace(std::span(ratios))) : 1.0;
    }
    return pace_[step];
  }

  // Where the pace changed for good: the step that best parts the run in two, when the two differ
  // more than the steps of each. O(steps).
  std::optional<std::uint32_t> Turn() const {
    std::vector<std::size_t> steps;
    std::vector<double> sums = {0};
    double squares = 0;
    for (std::size_t step = first_; step < usual_.size(); ++step) {
      if (usual_[step] <= 0) continue;
      const double pace = taken_[step] / usual_[step];
      steps.push_back(step);
      sums.push_back(sums.back() + pace);
      squares += pace * pace;
    }
    const auto all = static_cast<double>(steps.size());
    if (steps.size() < 2 * kLeast) return std::nullopt;
    double best = 0;
    std::size_t turn = 0;
    for (std::size_t i = kLeast; i + kLeast <= steps.size(); ++i) {
      const auto before = static_cast<double>(i);
      const double apart = (sums.back() - sums[i]) / (all - before) - sums[i] / before;
      const double between = apart * apart * before * (all - before) / all;
      if (apart > 0 && between > best) best = between, turn = i;
    }
    const double total = squares - sums.back() * sums.back() / all;
    if (turn == 0 || best < run_.knowledge.Number("kernel.turn_share") * total) return std::nullopt;
    return static_cast<std::uint32_t>(steps[turn]);
  }

  // Where the pace grows evenly, and does not change at once: of each step's kernel time, the part
  // that it took at the start. Empty where the halves before and after `middle` fit better.
  // O(steps).
  std::vector<double> LeftOfGrowth(std::uint32_t middle) const {
    std::vector<std::pair<double, double>> points;  // step, pace
    for (std::size_t step = first_; step < usual_.size(); ++step) {
      if (usual_[step] > 0)
        points.emplace_back(static_cast<double>(step), taken_[step] / usual_[step]);
    }
    if (points.size() < 2 * kLeast) return {};
    const auto all = static_cast<double>(points.size());
    double mean_step = 0;
    double mean_pace = 0;
    for (const auto& [step, pace] : points) mean_step += step / all, mean_pace += pace / all;
    double spread = 0;
    double together = 0;
    double before = 0;
    double sum_before = 0;
    for (const auto& [step, pace] : points) {
      spread += (step - mean_step) * (step - mean_step);
      together += (step - mean_step) * (pace - mean_pace);
      if (step < middle) ++before, sum_before += pace - mean_pace;
    }
    if (before == 0 || before == all || together <= 0) return {};
    const double by_halves = sum_before * sum_before * all / (before * (all - before));
    if (together * together / spread <= by_halves) return {};
    const double growth = together / spread;
    const auto at = [&](double step) { return mean_pace + growth * (step - mean_step); };
    const double start = at(points.front().first);
    std::vector<double> left(usual_.size(), 1.0);
    if (start <= 0) return {};
    for (const auto& [step, pace] : points) left[static_cast<std::size_t>(step)] = start / at(step);
    return left;
  }

  // By how many standard errors the steps from `middle` on differ from those before it in their
  // kernel time. Both sides vary alike: a few steps that happen to be alike say nothing of how
  // steps vary. Few steps show the error itself only roughly, so Student's t of them comes as the
  // distance that is as improbable in a normal distribution (D. L. Wallace, Bounds on Normal
  // Approximations to Student's and the Chi-Square Distributions, Ann. Math. Statist. 30, 1959).
  double Sigma(std::uint32_t middle) const {
    std::vector<double> before;
    std::vector<double> after;
    for (std::size_t step = first_; step < usual_.size(); ++step) {
      if (usual_[step] <= 0) continue;
      auto& half = step < middle ? before : after;
      half.push_back(taken_[step] / usual_[step]);
    }
    if (before.size() < 2 || after.size() < 2) return 0;
    const auto [mean_before, squares_before] = MeanAndSquares(before);
    const auto [mean_after, squares_after] = MeanAndSquares(after);
    const auto count_before = static_cast<double>(before.size());
    const auto count_after = static_cast<double>(after.size());
    const double free = count_before + count_after - 2;
    const double variance = (squares_before + squares_after) / free;
    const double error = std::sqrt(variance * (1 / count_before + 1 / count_after));
    const double apart = mean_after - mean_before;
    if (apart == 0) return 0;
    const double t = apart / std::max(error, std::abs(apart) / kMostT);
    const double distance =
        (8 * free + 1) / (8 * free + 3) * std::sqrt(free * std::log1p(t * t / free));
    return std::copysign(distance, t);
  }

 private:
  static constexpr double kMostT = 1000;  // where nothing varies

  // And the sum of the squared distances from the mean.
  static std::pair<double, double> MeanAndSquares(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return {mean, squares};
  }

  const Run& run_;
  std::size_t first_;                       // steady part
  std::vector<std::vector<float>> ratios_;  // by step, of single kernels
  std::vector<double> taken_, usual_;       // by step, ns
  std::vector<double> pace_;                // by step; 0 until it is asked for
  std::vector<Nanos> usual_of_group_;       // see Usual
  double least_;                            // kernels that tell the pace of a step
};

class VariationFinder : Finder {
 public:
  VariationFinder(const Basis& basis, const std::vector<std::uint32_t>& kernels)
      : Finder(basis),
        enough_(CountOf("kernel.like_calls")),
        kernels_(kernels),
        parts_(run_, kernels, CountOf("kernel.parts")) {}

  KernelVariation Find() {
    LossBuilder varying(basis_);
    LossBuilder slowing(basis_);
    const Likes likes(run_, kernels_, parts_);
    Paces paces(run_, likes, parts_);
    const std::optional<std::uint32_t> turn = paces.Turn();
    const std::uint32_t middle = turn ? *turn : HalfWay();
    const std::size_t each_side = turn ? Paces::kLeast : enough_ / 2;
    const auto factor = Number("kernel.slow_factor");
    const auto more_data = Number("kernel.pace_of_data");
    double compared = 0;
    double before = 0;
    double after = 0;
    std::vector<std::pair<double, double>> ratios;  // of each group, and its time
    for (std::size_t group = 0; group < likes.size(); ++group) {
      const std::span<const std::uint32_t> ops = likes.Ops(group);
      if (ops.size() < 2 * Paces::kLeast) continue;
      const std::span<const Nanos> lengths = likes.Lengths(group);
      const Nanos median = paces.Usual(group);
      const bool compare = parts_.AreSteps() && ops.size() >= enough_;
      for (std::size_t i = 0; i < ops.size() && compare; ++i) {
        const auto length = static_cast<double>(lengths[i]);
        if (length <= factor * static_cast<double>(median)) continue;
        const std::uint32_t op = ops[i];
        const double pace = std::max(1.0, paces.Of(op));
        if (length <= factor * pace * static_cast<double>(median)) continue;
        // A kernel of which the work grows faster than the data takes longer wherever it runs.
        if (pace >= more_data && length <= factor * static_cast<double>(median) *
                                               PaceOfShape(likes, paces, group, StepOf(run_, op)))
          continue;
        varying.Count(trace_.ops.start[op], 0, lengths[i] - median);
        varying.AddOpBeyond(op, median);
        varying.ScaleOp(op, static_cast<double>(median) / length);
      }
      const std::span<const std::uint32_t> steps = likes.StepsOf(group);  // in time order
      const auto half = std::find_if(steps.begin(), steps.end(),
                                     [&](std::uint32_t step) { return step >= middle; }) -
                        steps.begin();
      const auto half_size = static_cast<std::size_t>(half);
      if (half_size < each_side || ops.size() - half_size < each_side) continue;
      const Nanos first = Median(std::vector<Nanos>(lengths.begin(), lengths.begin() + half));
      const Nanos second = Median(std::vector<Nanos>(lengths.begin() + half, lengths.end()));
      const auto count = static_cast<double>(ops.size() - half_size);
      compared += static_cast<double>(median) * static_cast<double>(ops.size());
      before += static_cast<double>(first) * count;
      after += static_cast<double>(second) * count;
      ratios.emplace_back(
          static_cast<double>(second) / static_cast<double>(std::max<Nanos>(1, first)),
          static_cast<double>(median) * static_cast<double>(ops.size()));
      if (second <= first) continue;
      for (std::size_t i = half_size; i < ops.size(); ++i) {
        if (lengths[i] <= first) continue;
        const std::uint32_t op = ops[i];
        slowing.Count(trace_.ops.start[op], 0, lengths[i] - first);
        slowing.AddOpBeyond(op, first);
        slowing.ScaleOp(op, static_cast<double>(first) / LengthNs(op));
      }
    }
    const std::vector<double> left = paces.LeftOfGrowth(middle);
    double all = 0;
    for (const std::uint32_t op : kernels_) all += LengthNs(op);
    result_.slowing_ratio = before > 0 ? after / before : 0;
    double alike = 0;
    for (const auto& [ratio, time] : ratios)
      alike += 2 * (ratio - 1) >= result_.slowing_ratio - 1 ? time : 0;
    result_.slowing_alike = compared > 0 ? alike / compared : 0;
    result_.slowing_share = all > 0 ? std::min(1.0, compared / all) : 0;
    result_.slowing_sigma = before > 0 ? paces.Sigma(middle) : 0;
    if (parts_.AreSteps()) result_.data_growth = GrowthOfData(basis_, kernels_, middle);
    result_.varying = varying.Build();
    result_.slowing = left.empty() ? slowing.Build() : Growing(likes, left);
    return std::move(result_);
  }

 private:
  // How much longer than usual the launches of the group's shape take in a step: the median
  // multiple; 1 where they are too few to tell. O(places of the shape log steps), once for each
  // shape and step.
  double PaceOfShape(const Likes& likes, const Paces& paces, std::size_t group,
                     std::uint32_t step) {
    const auto shape_of = [&](std::size_t g) {
      const std::uint32_t op = likes.Ops(g).front();
      return std::pair(trace_.ops.device[op], trace_.ops.detail[op]);
    };
    const auto shape = shape_of(group);
    const auto [at, is_new] = pace_of_shape_.try_emplace({shape, step}, 1.0);
    if (!is_new) return at->second;
    while (group > 0 && shape_of(group - 1) == shape) --group;
    std::vector<double> multiples;
    for (; group < likes.size() && shape_of(group) == shape; ++group) {
      const std::span<const std::uint32_t> steps = likes.StepsOf(group);
      const auto found = std::lower_bound(steps.begin(), steps.end(), step);
      if (found == steps.end() || *found != step || paces.Usual(group) <= 0) continue;
      const Nanos length = likes.Lengths(group)[static_cast<std::size_t>(found - steps.begin())];
      multiples.push_back(static_cast<double>(length) / static_cast<double>(paces.Usual(group)));
    }
    if (static_cast<double>(multiples.size()) >= Number("kernel.pace_kernels"))
      at->second = Median(multiples);
    return at->second;
  }

  // Kernels that take longer from step to step: what they take beyond the first one. `left`: of
  // each step, see LeftOfGrowth.
  Loss Growing(const Likes& likes, const std::vector<double>& left) const {
    LossBuilder growing(basis_);
    for (std::size_t group = 0; group < likes.size(); ++group) {
      const std::span<const std::uint32_t> ops = likes.Ops(group);
      if (ops.size() < 2 * Paces::kLeast) continue;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const double part = left[likes.StepsOf(group)[i]];
        if (part >= 1) continue;
        const auto kept = static_cast<Nanos>(part * LengthNs(ops[i]));
        const Nanos start = trace_.ops.start[ops[i]];
        growing.Count(start, 0, trace_.ops.end[ops[i]] - start - kept);
        growing.AddOpBeyond(ops[i], kept);
        growing.ScaleOp(ops[i], part);
      }
    }
    return growing.Build();
  }

  // The part whose kernels run in the middle of the window; the host may be steps ahead by then.
  std::uint32_t HalfWay() const {
    const Nanos middle = run_.window.start + run_.window.Length() / 2;
    const auto first =
        std::lower_bound(kernels_.begin(), kernels_.end(), middle,
                         [&](std::uint32_t op, Nanos time) { return trace_.ops.start[op] < time; });
    for (auto i = static_cast<std::size_t>(first - kernels_.begin()); i < kernels_.size(); ++i) {
      if (parts_.Of(i) != kNone) return parts_.Of(i);
    }
    return kNone;
  }

  std::size_t enough_;
  const std::vector<std::uint32_t>& kernels_;
  Parts parts_;
  // By device and shape, and step; see PaceOfShape.
  std::map<std::pair<std::pair<std::uint16_t, std::uint32_t>, std::uint32_t>, double>
      pace_of_shape_;
  KernelVariation result_;
};

}  // namespace

KernelVariation FindKernelVariation(const Basis& basis, const std::vector<std::uint32_t>& kernels) {
  KernelVariation variation = VariationFinder(basis, kernels).Find();
  variation.slices = FindTimeSlices(basis, kernels);
  return variation;
}

}  // namespace advise
