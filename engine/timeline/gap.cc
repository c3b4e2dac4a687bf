#include "engine/timeline/gap.h"

#include <algorithm>

namespace advise {

std::uint32_t GapPieces::OtherThread(std::size_t row) const {
  const auto at = std::lower_bound(other_threads_.begin(), other_threads_.end(),
                                   std::pair{static_cast<std::uint32_t>(row), 0U});
  return at->second;
}

std::size_t GapPieces::FirstEndingAfter(std::uint32_t device, Nanos time) const {
  std::size_t first = 0;
  std::size_t last = rows_.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    const GapPiece piece = (*this)[middle];
    const bool before = piece.device < device || (piece.device == device && piece.end <= time);
    (before ? first : last) = before ? middle + 1 : middle;
  }
  return first;
}

}  // namespace advise
