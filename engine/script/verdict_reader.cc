#include "engine/script/verdict_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <lua.hpp>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/script/handles.h"
#include "engine/script/lua_fields.h"
#include "engine/script/sandbox.h"

namespace advise {
namespace {

constexpr lua_Integer kMostRows = 1000;

[[noreturn]] void Refuse(lua_State* state, const std::string& text) {
  luaL_error(state, "%s", text.c_str());
  std::abort();  // not reached: luaL_error does not return
}

Cell ReadCell(lua_State* state, int index, const std::string& what) {
  if (lua_type(state, index) == LUA_TNUMBER) {
    const double number = lua_tonumber(state, index);
    if (!std::isfinite(number)) Refuse(state, what + " is not a finite number (division by zero?)");
    return number;
  }
  if (lua_type(state, index) == LUA_TSTRING) {
    std::size_t size = 0;
    const char* text = lua_tolstring(state, index, &size);
    return std::string(text, size);
  }
  Refuse(state, what + ": wanted a number or a text, got " + DescribeLua(state, index));
}

Row ReadRecord(lua_State* state, int index, const std::string& what) {
  if (const Row* row = AsRow(state, index)) return *row;
  if (lua_type(state, index) != LUA_TTABLE) {
    Refuse(state, what + ": wanted a record, got " + DescribeLua(state, index));
  }
  Row row;
  const int table = lua_absindex(state, index);
  for (const std::string& key : SortedKeys(state, table)) {
    lua_getfield(state, table, key.c_str());
    row.emplace_back(key, ReadCell(state, -1, what + "." + key));
    lua_pop(state, 1);
  }
  std::stable_partition(row.begin(), row.end(), [](const auto& cell) {
    return std::holds_alternative<std::string>(cell.second);
  });
  return row;
}

double Field(lua_State* state, int table, const char* name, double otherwise) {
  lua_getfield(state, table, name);
  double number = otherwise;
  if (!lua_isnil(state, -1)) {
    if (lua_type(state, -1) != LUA_TNUMBER) {
      Refuse(state,
             std::string("saving: ") + name + ": wanted a number, got " + DescribeLua(state, -1));
    }
    number = lua_tonumber(state, -1);
    if (std::isnan(number))
      Refuse(state, std::string("saving: ") + name + " is not a number (0/0?)");
  }
  lua_pop(state, 1);
  return number;
}

// Calls `take` for the handle in a field, or for each in the list that it holds. `take` returns
// whether the value on the stack top was of the right kind.
template <typename Take>
void EachHandle(lua_State* state, int table, const char* name, const char* wanted, Take&& take) {
  lua_getfield(state, table, name);
  if (!lua_isnil(state, -1) && !take()) {
    if (lua_type(state, -1) != LUA_TTABLE) {
      Refuse(state, std::string("saving: ") + name + ": wanted " + wanted +
                        " or a list of them, got " + DescribeLua(state, -1));
    }
    const int list = lua_gettop(state);
    const lua_Integer count = luaL_len(state, list);
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(state, list, i);
      if (!take()) {
        Refuse(state, std::string("saving: ") + name + ": wanted " + wanted + ", got " +
                          DescribeLua(state, -1) + " in the list");
      }
      lua_pop(state, 1);
    }
  }
  lua_pop(state, 1);
}

}  // namespace

bool IsEvidenceName(std::string_view name) {
  return !name.empty() && IsLower(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
    return IsLower(c) || IsDigit(c) || c == '_';
  });
}

void Claim(SavingClaim& saving, const std::shared_ptr<const Spans>& spans) {
  if (spans == nullptr) return;
  auto united = saving.claims == nullptr ? std::make_shared<Spans>()
                                         : std::make_shared<Spans>(*saving.claims);
  const std::vector<IntervalSet>& more = spans->by_device;
  if (united->by_device.size() < more.size()) united->by_device.resize(more.size());
  for (std::size_t device = 0; device < more.size(); ++device) {
    united->by_device[device] = united->by_device[device].Union(more[device]);
  }
  saving.claims = std::move(united);
}

Rows ReadRows(lua_State* state, int index, const std::string& what) {
  if (const Rows* rows = AsRows(state, index)) {
    if (rows->size() > static_cast<std::size_t>(kMostRows)) {
      Refuse(state, what + " has more than 1000 rows: use top()");
    }
    return *rows;
  }
  if (lua_type(state, index) != LUA_TTABLE) {
    Refuse(state, what + ": wanted a number, a text or rows, got " + DescribeLua(state, index));
  }
  const int list = lua_absindex(state, index);
  const lua_Integer count = luaL_len(state, list);
  if (count > kMostRows) Refuse(state, what + " has more than 1000 rows: use top()");
  if (!IsList(state, list)) {
    Refuse(state, what + ": wanted a list of records, got a table with names or holes in it");
  }
  Rows rows;
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(state, list, i);
    rows.push_back(ReadRecord(state, -1, what + "[" + std::to_string(i) + "]"));
    lua_pop(state, 1);
  }
  return rows;
}

void ReadEvidence(lua_State* state, int index, Verdict& verdict) {
  const int table = lua_absindex(state, index);
  if (lua_type(state, table) != LUA_TTABLE) {
    Refuse(state, "detect: wanted nil or a table of evidence, got " + DescribeLua(state, table));
  }
  for (const std::string& key : SortedKeys(state, table)) {
    if (!IsEvidenceName(key)) {
      Refuse(state, "evidence: wanted names in lower case with \"_\", got \"" + key + "\"");
    }
    const std::string what = "evidence." + key;
    lua_getfield(state, table, key.c_str());
    if (lua_type(state, -1) == LUA_TTABLE || lua_type(state, -1) == LUA_TUSERDATA) {
      verdict.tables[key] = ReadRows(state, -1, what);
    } else {
      verdict.evidence[key] = ReadCell(state, -1, what);
    }
    lua_pop(state, 1);
  }
}

void ReadSaving(lua_State* state, int index, SavingClaim& saving) {
  const int table = lua_absindex(state, index);
  if (lua_type(state, table) != LUA_TTABLE) {
    Refuse(state, "saving: wanted nil or a table, got " + DescribeLua(state, table));
  }
  static const std::vector<std::string> known = {"claims",     "remedy",          "part",
                                                 "confidence", "confidence_from", "basis"};
  for (const std::string& key : SortedKeys(state, table)) {
    if (IsIn(key, known)) continue;
    const std::string near = DidYouMean(key, known);
    Refuse(state, "saving: unknown field \"" + key + "\"" +
                      (near.empty() ? "" : " (did you mean \"" + near + "\"?)"));
  }

  EachHandle(state, table, "claims", "spans", [&] {
    const auto* spans = AsSpans(state, -1);
    if (spans == nullptr) return false;
    Claim(saving, *spans);
    return true;
  });
  EachHandle(state, table, "remedy", "a remedy", [&] {
    const auto* remedy = AsRemedy(state, -1);
    if (remedy == nullptr) return false;
    if (*remedy != nullptr) saving.remedies.push_back(*remedy);
    return true;
  });

  saving.part = std::clamp(Field(state, table, "part", 1.0), 0.0, 1.0);
  saving.confidence = Field(state, table, "confidence", 0.5);
  if (saving.confidence < 0 || saving.confidence > 1) {
    Refuse(state, "saving: confidence: wanted 0 to 1, got " + std::to_string(saving.confidence));
  }
  lua_getfield(state, table, "confidence_from");
  if (lua_type(state, -1) == LUA_TSTRING) {
    saving.confidence_from = lua_tostring(state, -1);
  } else if (lua_type(state, -1) != LUA_TNIL) {
    Refuse(state, "saving: confidence_from: wanted a text, got " + DescribeLua(state, -1));
  }
  lua_pop(state, 1);
  lua_getfield(state, table, "basis");
  if (lua_type(state, -1) != LUA_TSTRING) {
    Refuse(state, "saving: basis: wanted a text, got " + DescribeLua(state, -1));
  }
  saving.basis = lua_tostring(state, -1);
  lua_pop(state, 1);
}

}  // namespace advise
