// Reports as the simulator writes them, changed as the bytes of an input say: other schemas, other
// types, other values. What comes out is always a sound database with an odd report in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace advise::fuzz {

// The bytes of a database file; deterministic. Empty when the input asks for none.
std::string NsysVariant(std::string_view input);

}  // namespace advise::fuzz
