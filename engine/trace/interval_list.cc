#include "engine/trace/interval_list.h"

#include <algorithm>

namespace advise {
namespace {

// The first of `count` things for which `before` does not hold; it holds for those in front.
template <typename Before>
std::size_t FirstNot(std::size_t count, Before before) {
  std::size_t first = 0;
  while (count > 0) {
    const std::size_t half = count / 2;
    if (before(first + half)) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

}  // namespace

template <typename Before>
std::size_t IntervalList::FirstIn(std::size_t later, Before before) const {
  if (later == 0) return 0;
  // Those of earlier blocks end before this one starts.
  const std::size_t first = (later - 1) * kBlock;
  const std::uint64_t* const words = words_.data() + (later - 1) * (kBlock + 1);
  return first + FirstNot(std::min(kBlock, size_ - first),
                          [&](std::size_t i) { return before(words[i + 1], words[0]); });
}

std::size_t IntervalList::BlocksUntil(Nanos time) const {
  return FirstNot((size_ + kBlock - 1) / kBlock, [&](std::size_t block) {
    return static_cast<Nanos>(words_[block * (kBlock + 1)]) < time;
  });
}

IntervalList::Iterator IntervalList::FirstEndingAfter(Nanos time) const {
  return {this, FirstIn(BlocksUntil(time + 1), [&](std::uint64_t word, std::uint64_t base) {
            const std::uint64_t end = word >> 32U;
            if (end != kInFull) return end <= static_cast<std::uint64_t>(time) - base;
            return in_full_[static_cast<std::uint32_t>(word)].end <= time;
          })};
}

IntervalList::Iterator IntervalList::FirstStartingFrom(Nanos time) const {
  return {this, FirstIn(BlocksUntil(time), [&](std::uint64_t word, std::uint64_t base) {
            const auto start = static_cast<std::uint32_t>(word);
            if (word >> 32U != kInFull) return start < static_cast<std::uint64_t>(time) - base;
            return in_full_[start].start < time;
          })};
}

void IntervalList::GiveBackRoom() {
  constexpr std::size_t kWorth = std::size_t{1} << 17U;  // intervals: a megabyte
  const std::size_t unused = words_.capacity() - words_.size();
  if (unused > kWorth && unused > words_.size() / 8) words_.shrink_to_fit();
}

}  // namespace advise
