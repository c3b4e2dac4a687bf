// Cells of facts that are small tables.
#pragma once

#include <string>
#include <string_view>
#include <variant>

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

}  // namespace advise
