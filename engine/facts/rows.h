// Cells of facts that are small tables.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/facts/facts.h"

namespace advise {

// The cell of a column when it holds a T, else nullptr.
template <typename T>
const T* CellOf(const Row& row, std::string_view column) {
  for (const auto& [name, cell] : row) {
    if (name == column) return std::get_if<T>(&cell);
  }
  return nullptr;
}

// 0 and "" where the row has no such cell.
inline double NumberIn(const Row& row, std::string_view column) {
  const auto* number = CellOf<double>(row, column);
  return number == nullptr ? 0 : *number;
}
inline std::string TextIn(const Row& row, std::string_view column) {
  const auto* text = CellOf<std::string>(row, column);
  return text == nullptr ? "" : *text;
}

struct TimedStep {
  std::size_t index = 0;
  double time = 0;
  bool outlier = false;
};

// The fact work.steps: as many rows as steps, but 500 at most. Of more steps, each row is the mean
// of several in a row: a sample would hold each of the slow ones or none where these come in turn.
inline Rows StepRows(const std::vector<TimedStep>& steps) {
  constexpr std::size_t kMost = 500;
  const std::size_t each = std::max<std::size_t>(1, (steps.size() + kMost - 1) / kMost);
  Rows rows;
  for (std::size_t begin = 0; begin + each <= steps.size(); begin += each) {
    // The last row takes what is left.
    const std::size_t end = begin + 2 * each > steps.size() ? steps.size() : begin + each;
    double sum = 0;
    bool outlier = false;
    for (std::size_t i = begin; i < end; ++i) {
      sum += steps[i].time;
      outlier = outlier || steps[i].outlier;
    }
    rows.push_back({{"index", static_cast<double>(steps[begin].index)},
                    {"time", sum / static_cast<double>(end - begin)},
                    {"outlier", outlier ? 1.0 : 0.0}});
  }
  return rows;
}

}  // namespace advise
