// Values out of JSON text, for the fields that a facts file keeps (summary_json.cc). What is of
// another type throws simdjson::simdjson_error.
#pragma once

#include <simdjson.h>

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/facts/facts.h"

namespace advise {

using Kept = simdjson::dom::element;

// ---- Single values

inline void Read(Kept json, bool& value) { value = json.get_bool(); }
inline void Read(Kept json, double& value) { value = json.get_double(); }
inline void Read(Kept json, std::string& value) { value = std::string_view(json.get_string()); }

template <std::integral T>
void Read(Kept json, T& value) {
  if (json.is<std::int64_t>()) {
    value = static_cast<T>(std::int64_t(json.get_int64()));
  } else {
    value = static_cast<T>(std::uint64_t(json.get_uint64()));
  }
}

// By its name if NamesOf() has some for its type; the first of them stands for names that a later
// version added.
template <typename T>
requires std::is_enum_v<T>
void Read(Kept json, T& value) {
  if constexpr (requires { NamesOf(value); }) {
    const auto& names = NamesOf(value);
    value = names.front().first;
    std::string_view name;
    if (json.get(name) != simdjson::SUCCESS) return;
    for (const auto& [one, its] : names) {
      if (its == name) value = one;
    }
  } else {
    std::underlying_type_t<T> number{};
    Read(json, number);
    value = static_cast<T>(number);
  }
}

inline void Read(Kept json, std::optional<double>& value) {
  if (json.is_number()) value = json.get_double();
}

inline void Read(Kept json, Cell& value) {
  if (json.is_number()) {
    value = double(json.get_double());
  } else {
    value = std::string(std::string_view(json.get_string()));
  }
}

// ---- Values of values, declared before any of them is used by another

inline void Read(Kept json, Rows& rows);
template <typename T>
void Read(Kept json, std::vector<T>& values);
template <typename A, typename B>
void Read(Kept json, std::pair<A, B>& values);
template <typename T, std::size_t N>
void Read(Kept json, std::array<T, N>& values);
template <typename K, typename T>
void Read(Kept json, std::map<K, T>& values);

// The next of the array; there must be one.
class InTurn {
 public:
  explicit InTurn(Kept json) : array_(json.get_array()), at_(array_.begin()) {}
  Kept Next() {
    if (!(at_ != array_.end())) throw simdjson::simdjson_error(simdjson::INDEX_OUT_OF_BOUNDS);
    const Kept value = *at_;
    ++at_;
    return value;
  }

 private:
  simdjson::dom::array array_;
  simdjson::dom::array::iterator at_;
};

template <typename T>
void Read(Kept json, std::vector<T>& values) {
  const simdjson::dom::array array = json.get_array();
  values.clear();
  values.reserve(array.size());
  for (const Kept one : array) Read(one, values.emplace_back());
}

template <typename A, typename B>
void Read(Kept json, std::pair<A, B>& values) {
  InTurn list(json);
  Read(list.Next(), values.first);
  Read(list.Next(), values.second);
}

template <typename T, std::size_t N>
void Read(Kept json, std::array<T, N>& values) {
  InTurn list(json);
  for (T& value : values) Read(list.Next(), value);
}

template <typename K, typename T>
void Read(Kept json, std::map<K, T>& values) {
  values.clear();
  for (const auto [name, value] : simdjson::dom::object(json.get_object())) {
    Read(value, values[K(name)]);
  }
}

// Columns once, then the cells row by row.
inline void Read(Kept json, Rows& rows) {
  std::vector<std::string> columns;
  Read(json["columns"], columns);
  const simdjson::dom::array cells = json["cells"].get_array();
  rows.clear();
  if (columns.empty()) return;
  rows.reserve(cells.size() / columns.size());
  std::size_t column = 0;
  for (const Kept cell : cells) {
    if (column == 0) rows.emplace_back().reserve(columns.size());
    Read(cell, rows.back().emplace_back(columns[column], Cell()).second);
    column = (column + 1) % columns.size();
  }
  if (column != 0) rows.pop_back();
}

// ---- Fields

// A field that is not there keeps its default.
template <typename T>
void ReadField(simdjson::dom::object json, std::string_view name, T& value) {
  Kept field;
  if (json.at_key(name).get(field) == simdjson::SUCCESS) Read(field, value);
}

// A list in the place of an object: fields that a later version added behind are left out.
template <typename... Fields>
void ReadTied(Kept json, const std::tuple<Fields&...>& fields) {
  InTurn list(json);
  std::apply([&list](auto&... field) { (Read(list.Next(), field), ...); }, fields);
}

}  // namespace advise
