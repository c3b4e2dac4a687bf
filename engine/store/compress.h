// Texts compressed by zstd, against a dictionary of what most reports say: names of facts and
// rules, their words and units. A report's summary is mostly that, and takes a tenth of the room by
// it.
#pragma once

#include <string>
#include <string_view>

namespace advise {

std::string Compress(std::string_view plain);
// Also what format 1 of the facts files holds (zlib, the length in front). False when the bytes are
// damaged, or would become larger than any section is.
bool Uncompress(std::string_view packed, std::string* plain);

}  // namespace advise
