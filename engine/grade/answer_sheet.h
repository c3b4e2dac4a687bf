// An answer sheet as students write it: TOML (id = "value") or CSV (id,value or id,value,unit).
// What is in it is data of strangers: bounded, and never anything but text.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace advise {

inline constexpr std::size_t kLargestSheet = std::size_t{64} * 1024;  // bytes

using Answers = std::map<std::string, std::string>;  // question → what was written, unit included

// Whether a file of this name is an answer sheet: answers.toml, answers.csv, with anything before.
bool IsAnswerSheet(std::string_view file_name);

// By the name's ending. Fails on a text that is too long or is no such sheet; of an id that stands
// twice the last counts.
Result<Answers> ReadAnswers(const std::string& path, std::string_view text);

}  // namespace advise
