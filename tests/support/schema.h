// Checks JSON against the schemas of docs/.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace advise {

// What the report breaks in docs/<name>.schema.json, "<place>: <rule>" each; empty: it is valid.
std::vector<std::string> SchemaProblems(const nlohmann::json& report,
                                        const std::string& name = "report");

}  // namespace advise
