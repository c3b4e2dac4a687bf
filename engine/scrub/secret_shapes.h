// Secrets recognized by their shape alone, wherever they stand in a text: keys and tokens of
// services, passwords in addresses and on command lines, private keys, addresses of people and
// machines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace advise {

// Tokens that services hand out, recognized by how they begin.
bool LooksLikeKey(std::string_view word);

// Puts "key" in the place of secrets, "address" in that of addresses; returns how many keys. What
// is masked already is not counted again. O(text).
std::size_t MaskSecretShapes(std::string* text);

}  // namespace advise
