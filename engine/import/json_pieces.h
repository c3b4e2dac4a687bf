// Walks a JSON text without parsing it, to hand out pieces of bounded size: what is broken in one
// piece costs no other, and a text that was cut off is read as far as it is whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace advise {

class JsonPieces {
 public:
  explicit JsonPieces(std::string_view text) : text_(text) {}

  // Steps into the object or array that is next; false where something else is.
  bool Enter(char open);

  // In an object: the next key, as written; its value is next. Nothing at the end of the object,
  // which is then left.
  std::optional<std::string_view> NextKey();

  // In an array: whether a value is next. At the end the array is left.
  bool HasMore();

  // The text of the next value, whole. Nothing where the text ends before; then nothing follows.
  std::optional<std::string_view> NextValue();

  // Whether the text ended amid a value, or before all that was entered was left.
  bool cut_off() const { return cut_off_; }

 private:
  bool SkipTo(char closing);  // whether something other than the end comes next
  std::size_t EndOfText(std::size_t quote) const;
  std::size_t EndOfValue(std::size_t from) const;

  std::string_view text_;
  std::size_t at_ = 0;
  bool cut_off_ = false;
};

}  // namespace advise
