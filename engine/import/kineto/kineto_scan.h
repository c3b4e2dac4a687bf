// Where values and events begin and end in JSON text that may be broken: by characters alone,
// without a parser.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/base/trim.h"

namespace advise::kineto {

inline constexpr std::size_t kNotWhole = std::string_view::npos;
inline constexpr std::size_t kNoValue = 0;

// The end of the value that the text begins with (an object, array, string or scalar); kNotWhole
// when the text ends before it does. A line break inside a string says that a bare quote came
// before it: kNoValue.
std::size_t EndOfValue(std::string_view text);

// Where `}` `,` `{` `"` stand in a row from `from` on, white space between them: the place of the
// `{`; npos when nowhere.
std::size_t NextStart(std::string_view text, std::size_t from);

// The bracket that closes the events: behind a brace, before another key or the end; npos.
std::size_t EndOfArray(std::string_view text);

// The last place where an event begins: a window can be cut there; npos.
std::size_t LastStart(std::string_view text);

}  // namespace advise::kineto
