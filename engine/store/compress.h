// Texts compressed by zstd.
#pragma once

#include <string>
#include <string_view>

namespace advise {

std::string Compress(std::string_view plain);
// False when the bytes are damaged, or would become larger than any section is.
bool Uncompress(std::string_view packed, std::string* plain);

}  // namespace advise
