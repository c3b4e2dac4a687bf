// Rows of a table by their ids, for joins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace advise::sqlite {

// Tables are written in the order of their ids, nearly always without holes: a row is then found
// at once. Sort when all are in.
template <typename Row>
class ById {
 public:
  void Add(std::int64_t id, Row row) {
    is_sorted_ = is_sorted_ && (rows_.empty() || rows_.back().first < id);
    rows_.emplace_back(id, std::move(row));
  }
  void Sort() {
    if (is_sorted_) return;
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  // Null where there is none.
  const Row* Find(std::int64_t id) const {
    if (rows_.empty() || id < rows_.front().first) return nullptr;
    const auto guess = static_cast<std::uint64_t>(id - rows_.front().first);
    if (guess < rows_.size() && rows_[guess].first == id) return &rows_[guess].second;
    const auto found = std::lower_bound(rows_.begin(), rows_.end(), id,
                                        [](const auto& row, auto key) { return row.first < key; });
    return found == rows_.end() || found->first != id ? nullptr : &found->second;
  }

 private:
  std::vector<std::pair<std::int64_t, Row>> rows_;
  bool is_sorted_ = true;
};

}  // namespace advise::sqlite
