#include "engine/trace/interval_list.h"

#include <algorithm>

namespace advise {
namespace {

// The first of `count` words for which `before` does not hold; it holds for those in front.
template <typename Before>
std::size_t FirstNot(const std::uint64_t* words, std::size_t count, Before before) {
  std::size_t first = 0;
  while (count > 0) {
    const std::size_t half = count / 2;
    if (before(words[first + half])) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

}  // namespace

std::size_t IntervalList::FirstBlockFrom(Nanos time, bool after) const {
  std::size_t first = 0;
  std::size_t count = (size_ + kBlock - 1) / kBlock;
  while (count > 0) {
    const std::size_t half = count / 2;
    const auto start = static_cast<Nanos>(words_[(first + half) * (kBlock + 1)]);
    if (start < time || (after && start == time)) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

IntervalList::const_iterator IntervalList::FirstEndingAfter(Nanos time) const {
  const std::size_t later = FirstBlockFrom(time, true);
  if (later == 0) return begin();
  // Those of earlier blocks end before this one starts.
  const std::size_t block = later - 1;
  const std::uint64_t* const words = words_.data() + block * (kBlock + 1);
  const auto from_base = static_cast<std::uint64_t>(time) - words[0];
  const std::size_t count = std::min(kBlock, size_ - block * kBlock);
  return {this, block * kBlock + FirstNot(words + 1, count, [&](std::uint64_t word) {
                  const std::uint64_t end = word >> 32U;
                  if (end != kInFull) return end <= from_base;
                  return in_full_[static_cast<std::uint32_t>(word)].end <= time;
                })};
}

IntervalList::const_iterator IntervalList::FirstStartingFrom(Nanos time) const {
  const std::size_t later = FirstBlockFrom(time, false);
  if (later == 0) return begin();
  const std::size_t block = later - 1;
  const std::uint64_t* const words = words_.data() + block * (kBlock + 1);
  const auto from_base = static_cast<std::uint64_t>(time) - words[0];
  const std::size_t count = std::min(kBlock, size_ - block * kBlock);
  return {this, block * kBlock + FirstNot(words + 1, count, [&](std::uint64_t word) {
                  const auto start = static_cast<std::uint32_t>(word);
                  if (word >> 32U != kInFull) return start < from_base;
                  return in_full_[start].start < time;
                })};
}

void IntervalList::GiveBackRoom() {
  constexpr std::size_t kWorth = std::size_t{1} << 17U;  // intervals: a megabyte
  const std::size_t unused = words_.capacity() - words_.size();
  if (unused > kWorth && unused > words_.size() / 8) words_.shrink_to_fit();
}

}  // namespace advise
