// JSON that the program prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace advise {

using Json = nlohmann::json;

// Throws what nlohmann::json does where the text is no JSON, which fails the test. Reports with
// their facts are large, and tests are not optimized: this is (json.cc).
Json ParseJson(const std::string& text);

}  // namespace advise
