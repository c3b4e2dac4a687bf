// The dictionary that facts files are compressed against: the summary of a simulated run, as
// `encode.h` writes it. Files can only be read with the one they were written with, so it is never
// changed. When another one pays, it becomes dictionary-2.json, beside this one, and the summary
// written with it gets a section name of its own.
#pragma once

#include <string_view>

namespace advise {

std::string_view DictionaryFile(std::string_view name);  // "dictionary-1.json"

}  // namespace advise
