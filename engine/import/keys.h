// What importers number while they read: threads, streams, kernel shapes. Each is met under a key
// of the file; rows hold the key's number until the trace is assembled.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/trace/tables.h"

namespace advise {

inline constexpr std::int64_t kNoStream = 0xffff'ffff;  // as CUPTI writes "not applicable"

// A stream, or with `stream` = kNoStream just a device of a process.
struct StreamKey {
  std::int64_t process = 0;  // as the format packs it; 0 when it does not say
  std::int64_t device = 0;   // as the process, or the profiler, numbers it
  std::int64_t context = 0;
  std::int64_t stream = kNoStream;
  auto operator<=>(const StreamKey&) const = default;
};

struct ThreadKey {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  auto operator<=>(const ThreadKey&) const = default;
};

struct KeyHash {
  std::size_t operator()(std::int64_t key) const {
    return static_cast<std::size_t>(key) * 0x9e37'79b9'7f4a'7c15ULL;
  }
  std::size_t operator()(const StreamKey& key) const {
    return Mix({key.process, key.device, key.context, key.stream});
  }
  std::size_t operator()(const ThreadKey& key) const { return Mix({key.pid, key.tid}); }

 private:
  std::size_t Mix(std::initializer_list<std::int64_t> parts) const {
    std::size_t hash = 0;
    for (const std::int64_t part : parts) {
      hash = (hash ^ (*this)(part)) * 0x9e37'79b9'7f4a'7c15ULL;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

// The rows of the trace that the numbers in a column mean. kNone stays.
inline void MapColumn(const std::vector<std::uint32_t>& rows, std::vector<std::uint32_t>* column) {
  for (std::uint32_t& number : *column) {
    if (number != kNone) number = rows[number];
  }
}

// Numbers for keys. The last key is remembered: rows of one thread or stream come in runs.
template <typename Key>
class Dictionary {
 public:
  std::uint32_t Number(const Key& key) {
    if (!keys_.empty() && keys_[last_] == key) return last_;
    const auto [found, is_new] = numbers_.emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) keys_.push_back(key);
    return last_ = found->second;
  }
  const std::vector<Key>& keys() const { return keys_; }

  // Puts the keys into order and rewrites `numbers` (kNone stays). Call when all keys are known.
  void SortKeys(std::initializer_list<std::vector<std::uint32_t>*> columns) {
    std::vector<std::uint32_t> order(keys_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return keys_[a] < keys_[b]; });
    std::vector<std::uint32_t> rank(order.size());
    std::vector<Key> sorted;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = i;
      sorted.push_back(keys_[order[i]]);
    }
    keys_ = std::move(sorted);
    numbers_.clear();
    last_ = 0;
    for (std::vector<std::uint32_t>* column : columns) MapColumn(rank, column);
  }

 private:
  std::vector<Key> keys_;
  std::unordered_map<Key, std::uint32_t, KeyHash> numbers_;
  std::uint32_t last_ = 0;
};

using StreamKeys = Dictionary<StreamKey>;

struct ShapeKey {
  std::array<std::uint32_t, 12> parts;
  bool operator==(const ShapeKey&) const = default;
};
struct ShapeHash {
  std::size_t operator()(const ShapeKey& key) const {
    std::size_t hash = 0;
    for (const std::uint32_t part : key.parts) {
      hash = (hash ^ part) * 0x9e37'79b9'7f4a'7c15ULL;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

inline ShapeKey KeyOf(const KernelShape& shape) {
  return {{shape.name, shape.short_name, shape.grid[0], shape.grid[1], shape.grid[2],
           shape.block[0], shape.block[1], shape.block[2], shape.registers,
           shape.static_shared_bytes, shape.dynamic_shared_bytes, shape.local_bytes}};
}

// Numbers for shapes. Loops launch the same kernels in the same order: what followed a shape last
// time is compared before anything is hashed.
class ShapeNumbers {
 public:
  // Counts up from 0 in the order in which keys are met.
  std::uint32_t Number(const ShapeKey& key) {
    const std::uint32_t expected = last_ == kNone ? kNone : follower_[last_];
    if (expected != kNone && keys_[expected] == key) return last_ = expected;
    const auto [found, is_new] =
        numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) {
      keys_.push_back(key);
      follower_.push_back(kNone);
    }
    if (last_ != kNone) follower_[last_] = found->second;
    return last_ = found->second;
  }

 private:
  std::unordered_map<ShapeKey, std::uint32_t, ShapeHash> numbers_;
  std::vector<ShapeKey> keys_;           // by number
  std::vector<std::uint32_t> follower_;  // by number: what came after it last time
  std::uint32_t last_ = kNone;
};

}  // namespace advise
