// Quantities as people write them in an answer sheet: "12.5 ms", "0,8 GB/s", "37 %", "4".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace advise {

struct Quantity {
  double value = 0;
  std::string unit;  // as written, "" none
};

// A number and what follows it. A comma is a decimal point when no other point is there and it does
// not look like a thousands separator. Nullopt when there is no number, or more than one.
std::optional<Quantity> ParseQuantity(std::string_view text);

// The quantity in a fact's unit (ns, s, share, bytes, bytes_per_s, count, num, …). A bare number is
// read in `assumed`, which may be empty: then it is in the fact's own unit. Nullopt when the units
// do not fit (ms for bytes).
std::optional<double> ToFactUnit(const Quantity& quantity, std::string_view fact_unit,
                                 std::string_view assumed);

// Whether anything can be read in this unit as a quantity of that fact's unit.
bool UnitsFit(std::string_view unit, std::string_view fact_unit);

}  // namespace advise
