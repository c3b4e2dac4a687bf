#include "engine/import/kineto/kineto_keys.h"

#include <algorithm>

namespace advise::kineto {
namespace {

Field FieldOf(std::string_view key) {
  return key == "ts"     ? Field::kStart
         : key == "dur"  ? Field::kDuration
         : key == "name" ? Field::kName
         : key == "pid"  ? Field::kProcess
         : key == "tid"  ? Field::kThread
         : key == "ph"   ? Field::kPhase
         : key == "cat"  ? Field::kCategory
         : key == "args" ? Field::kArgs
                         : Field::kOther;
}

}  // namespace

// A key ends at the next quote, since none that we know holds an escape.
Key* Keys::Find(const char* text) {
  const void* const quote = std::memchr(text, '"', kLongest);
  if (quote == nullptr) return &other_;
  const std::string_view key(text,
                             static_cast<std::size_t>(static_cast<const char*>(quote) - text));
  const auto known = index_.find(key);
  if (known != index_.end()) return known->second;
  if (keys_.size() == kMost) return &other_;
  Key& made = keys_.emplace_back();
  made.text = std::string(key) + '"';
  const std::size_t head = std::min(made.text.size(), sizeof made.head);
  std::memcpy(&made.head, made.text.data(), head);
  std::memset(&made.mask, 0xff, head);
  made.field = FieldOf(key);
  made.arg = ArgOf(key);
  made.is_grid = key == "grid";
  made.is_block = key == "block";
  index_.emplace(std::string_view(made.text).substr(0, key.size()), &made);
  return &made;
}

}  // namespace advise::kineto
