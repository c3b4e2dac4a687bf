// What the readers of Nsight Compute output share: metric ids for the labels of its details page,
// and numbers and units as it prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/import/text_input.h"
#include "engine/trace/tables.h"

namespace advise::ncu {

// The metric id that a label of the details page stands for; the label itself when we know none.
// The same label has two meanings in different sections; the unit decides.
std::string MetricId(std::string_view label, std::string_view unit);

// A value of `unit` in base units: byte, ns, hz, and per second. Percent and unknown units stay.
double InBaseUnit(double value, std::string_view unit);

// Keeps a metric as printed: its id, and its value in base units. Of equal ids the first stays.
// False when the cell holds no number.
bool PutMetric(std::string_view name, std::string_view unit, std::string_view cell,
               const NumberStyle& style, KernelCounters* counters);

// Makes the first device of a trace of kernel counters from their device attributes, where they
// have any.
void DescribeDevice(Trace* trace);

}  // namespace advise::ncu
