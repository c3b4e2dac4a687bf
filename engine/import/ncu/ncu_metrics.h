// What the readers of Nsight Compute output share: metric ids for the labels of its details page,
// and numbers and units as it prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/trace/tables.h"

namespace advise::ncu {

// The metric id that a label of the details page stands for; the label itself when we know none.
// The same label has two meanings in different sections, told by the unit.
std::string MetricId(std::string_view label, std::string_view unit);

// A value of `unit` in base units: byte, ns, hz, and per second. Percent and unknown units stay.
double InBaseUnit(double value, std::string_view unit);

// How numbers are written: told from all of a column, since "1,234" alone could mean either.
class NumberStyle {
 public:
  void Learn(std::string_view cell);
  // Nothing for "n/a", "(!) nan", words. Of "5.1 (3.0; 7.2)" the first number.
  std::optional<double> Read(std::string_view cell) const;

 private:
  bool comma_is_decimal_ = false;
};

// Makes the first device of a trace of kernel counters from their device attributes, where they
// have any.
void DescribeDevice(Trace* trace);

}  // namespace advise::ncu
