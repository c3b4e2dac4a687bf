#include "engine/compare/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

namespace advise {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014): the same sequence with every compiler and library.
class Dice {
 public:
  std::size_t Below(std::size_t count) {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return static_cast<std::size_t>((z ^ (z >> 31U)) % count);
  }

 private:
  std::uint64_t state_ = 20240229;
};

// Each value from those at the same place of a turn.
std::vector<double> Resample(const std::vector<double>& from, std::size_t turn, Dice& dice) {
  std::vector<double> sample(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t place = i % turn;
    const std::size_t turns = (from.size() - place + turn - 1) / turn;
    sample[i] = from[place + turn * dice.Below(turns)];
  }
  return sample;
}

// Variance of the values around the mean of those at the same place of a turn, unbiased.
double SpreadWithin(const std::vector<double>& values, std::size_t turn) {
  double squares = 0;
  for (std::size_t place = 0; place < turn; ++place) {
    double sum = 0, count = 0;
    for (std::size_t i = place; i < values.size(); i += turn) sum += values[i], count += 1;
    for (std::size_t i = place; i < values.size(); i += turn)
      squares += (values[i] - sum / count) * (values[i] - sum / count);
  }
  return squares / static_cast<double>(values.size() - turn);
}

std::pair<double, double> Middle95(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double index = std::round(share * static_cast<double>(values.size() - 1));
    return values[static_cast<std::size_t>(index)];
  };
  return {at(0.025), at(0.975)};
}

}  // namespace

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::size_t TurnOf(const std::vector<double>& values, double explained) {
  constexpr std::size_t kTurns = 3;  // of each length: two may be chance
  if (values.size() < 2) return 1;
  const double all = SpreadWithin(values, 1);
  for (std::size_t turn = 2; turn * kTurns <= values.size(); ++turn) {
    if (SpreadWithin(values, turn) < (1 - explained) * all) return turn;
  }
  return 1;
}

BootstrapPair Bootstrap(const std::vector<double>& a, const std::vector<double>& b,
                        std::size_t resamples, double explained) {
  Dice dice;
  const std::size_t turn_a = TurnOf(a, explained);
  const std::size_t turn_b = TurnOf(b, explained);
  std::vector<double> of_a, of_b, ratios;
  for (std::size_t i = 0; i < resamples; ++i) {
    of_a.push_back(MeanOf(Resample(a, turn_a, dice)));
    of_b.push_back(MeanOf(Resample(b, turn_b, dice)));
    ratios.push_back(of_b.back() > 0 ? of_a.back() / of_b.back() : 0);
  }
  BootstrapPair result;
  std::tie(result.low_a, result.high_a) = Middle95(std::move(of_a));
  std::tie(result.low_b, result.high_b) = Middle95(std::move(of_b));
  std::tie(result.low_ratio, result.high_ratio) = Middle95(std::move(ratios));
  return result;
}

}  // namespace advise
