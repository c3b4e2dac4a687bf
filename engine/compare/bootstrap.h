// Uncertainty of the mean of a sample, by resampling with a generator of fixed seed: the same
// sample gives the same interval on every machine.
#pragma once

#include <cstddef>
#include <vector>

namespace advise {

struct BootstrapPair {
  double low_a = 0, high_a = 0;          // 95 % interval of the mean of `a`
  double low_b = 0, high_b = 0;          // of `b`
  double low_ratio = 0, high_ratio = 0;  // of mean(a) / mean(b)
};

// Both samples must not be empty. O(resamples x (|a| + |b|)).
BootstrapPair Bootstrap(const std::vector<double>& a, const std::vector<double>& b,
                        std::size_t resamples);

double MeanOf(const std::vector<double>& values);  // 0 of none
// The mean of the two middle values of an even number of them; 0 of none.
double MedianOf(std::vector<double> values);

}  // namespace advise
