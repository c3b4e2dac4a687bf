// The keys of events. A trace repeats a few dozen keys millions of times, nearly always in the same
// order, so each key remembers which one followed it: most are recognized by one comparison, before
// it is known where they end.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/import/kineto/kineto_event.h"

namespace advise::kineto {

// What a key of an event itself says.
enum class Field : std::uint8_t {
  kOther,
  kPhase,
  kCategory,
  kName,
  kProcess,
  kThread,
  kStart,
  kDuration,
  kArgs
};

struct Key {
  std::string text;        // with the quote that ends it; empty: not kept
  std::uint64_t head = 0;  // its first eight bytes, as far as it has them
  std::uint64_t mask = 0;  // of those
  Field field = Field::kOther;
  std::optional<Arg> arg;  // what it says among the arguments
  bool is_grid = false;    // the same: the sizes of a launch
  bool is_block = false;
  std::array<Key*, static_cast<std::size_t>(Category::kCount)> next{};  // by category

  // Whether `at`, readable for Keys::kLongest bytes, goes on with this key.
  bool Begins(const char* at) const {
    std::uint64_t first = 0;
    std::memcpy(&first, at, sizeof first);
    return (first & mask) == head && (text.size() <= sizeof first ||
                                      std::memcmp(at + sizeof first, text.data() + sizeof first,
                                                  text.size() - sizeof first) == 0);
  }
};

class Keys {
 public:
  static constexpr std::size_t kLongest = 64;  // bytes that may be looked at behind the first quote

  // The key whose text begins at `text`, behind its first quote, in an event of that category as
  // far as it is known. `text` must be readable for kLongest bytes.
  const Key& Read(const char* text, Category category) {
    Key*& guess = last_->next[static_cast<std::size_t>(category)];
    if (guess == nullptr || !guess->Begins(text)) guess = Find(text);
    // What is not kept begins with anything: it is looked for each time.
    Key& found = *guess;
    if (found.text.empty()) guess = nullptr;
    last_ = &found;
    return found;
  }

 private:
  static constexpr std::size_t kMost = 4096;  // kept; a trace may make up keys without end

  Key* Find(const char* text);

  Key other_;                                         // stands for all that are not kept
  std::deque<Key> keys_;                              // never moved
  std::unordered_map<std::string_view, Key*> index_;  // by their texts, without the quote
  Key* last_ = &other_;
};

}  // namespace advise::kineto
