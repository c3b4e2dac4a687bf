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

std::vector<double> Resample(const std::vector<double>& from, Dice& dice) {
  std::vector<double> sample(from.size());
  for (double& value : sample) value = from[dice.Below(from.size())];
  return sample;
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

BootstrapPair Bootstrap(const std::vector<double>& a, const std::vector<double>& b,
                        std::size_t resamples) {
  Dice dice;
  std::vector<double> of_a, of_b, ratios;
  for (std::size_t i = 0; i < resamples; ++i) {
    of_a.push_back(MeanOf(Resample(a, dice)));
    of_b.push_back(MeanOf(Resample(b, dice)));
    ratios.push_back(of_b.back() > 0 ? of_a.back() / of_b.back() : 0);
  }
  BootstrapPair result;
  std::tie(result.low_a, result.high_a) = Middle95(std::move(of_a));
  std::tie(result.low_b, result.high_b) = Middle95(std::move(of_b));
  std::tie(result.low_ratio, result.high_ratio) = Middle95(std::move(ratios));
  return result;
}

}  // namespace advise
