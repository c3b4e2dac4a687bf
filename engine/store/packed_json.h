// JSON in a few bytes: what is of one kind stands together (structure, words, numbers, texts), and
// each of these streams is compressed by itself. Names that all reports have, those of facts, rules
// and fields, are numbers in a list of words that the program knows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace advise {

// Numbers that are not finite become null. O(bytes).
std::string PackJson(const nlohmann::json& json);
// Nothing when the bytes are damaged. O(bytes).
std::optional<nlohmann::json> UnpackJson(const std::string& packed);

}  // namespace advise
