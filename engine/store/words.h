// A list of strings that reports often hold, for packed_json.h. Files refer to it by number: the
// list is never changed. When another one pays, it becomes words-2.txt, beside this one, and files
// say which they use.
#pragma once

#include <string_view>

namespace advise {

std::string_view WordFile(std::string_view name);  // "words-1.txt"

}  // namespace advise
