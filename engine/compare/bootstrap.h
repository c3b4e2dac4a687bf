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

// The shortest turn after which values come back: their places in it explain this share of the
// variance, and three turns were seen. 1 where there is none. O(|values|^2).
std::size_t TurnOf(const std::vector<double>& values, double explained);

// Both samples must not be empty. What comes back at regular distances (a stall of each epoch, one
// step in four) would come back in another capture: values are drawn from those at the same place
// of a turn (see TurnOf). O(resamples x (|a| + |b|) + |a|^2 + |b|^2).
BootstrapPair Bootstrap(const std::vector<double>& a, const std::vector<double>& b,
                        std::size_t resamples, double explained);

double MeanOf(const std::vector<double>& values);  // 0 of none
// The mean of the two middle values of an even number of them; 0 of none.
double MedianOf(std::vector<double> values);

}  // namespace advise
