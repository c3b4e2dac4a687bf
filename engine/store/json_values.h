// Facts, rows and findings as JSON, and the way back: what several parts of a saved report hold.
// A field that is missing or null is as if it had its default.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/advice/finding.h"

namespace advise {

template <typename T>
T Get(const nlohmann::json& json, const char* name, T otherwise = T{}) {
  const auto at = json.find(name);
  return at == json.end() || at->is_null() ? otherwise : at->get<T>();
}

nlohmann::json CellJson(const Cell& cell);
Cell CellOf(const nlohmann::json& json);

// Columns once, then rows.
nlohmann::json RowsJson(const Rows& rows);
Rows RowsOf(const nlohmann::json& json);

// Spans are kept as their total, remedies not at all.
nlohmann::json ValueJson(const Value& value);
Value ValueOf(const nlohmann::json& json);

// Without the rule, which the reader looks up: "rule" is its id.
nlohmann::json FindingJson(const Finding& finding);
Finding FindingOf(const nlohmann::json& json);

}  // namespace advise
