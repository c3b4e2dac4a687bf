#include "engine/script/handles.h"

#include <algorithm>
#include <lua.hpp>
#include <string>
#include <vector>

#include "engine/base/text.h"

namespace advise {
namespace {

// Names of metatables; also what tostring() prints.
constexpr const char* kRows = "rows";
constexpr const char* kRow = "row";
constexpr const char* kSpans = "spans";
constexpr const char* kRemedy = "remedy";

void FillMetatable(lua_State* state, const char* name);

template <typename T>
void PushHandle(lua_State* state, const T* target, const char* name) {
  *static_cast<const T**>(lua_newuserdatauv(state, sizeof(void*), 0)) = target;
  if (luaL_newmetatable(state, name) != 0) FillMetatable(state, name);
  lua_setmetatable(state, -2);
}

template <typename T>
const T* AsHandle(lua_State* state, int index, const char* name) {
  void* held = luaL_testudata(state, index, name);
  return held == nullptr ? nullptr : *static_cast<const T**>(held);
}

int NoWriting(lua_State* state) {
  return luaL_error(state, "facts cannot be changed: copy what you need into your own table");
}

// An unknown field of a handle.
int NoField(lua_State* state, const char* what, const std::vector<std::string>& known) {
  const std::string name =
      lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : luaL_typename(state, 2);
  std::string listed;
  for (const std::string& one : known) listed += (listed.empty() ? "" : ", ") + one;
  const std::string near = DidYouMean(name, known);
  const std::string hint = near.empty() ? "it has " + listed : "did you mean " + near + "?";
  return luaL_error(state, "%s has no \"%s\" (%s)", what, name.c_str(), hint.c_str());
}

int IndexRows(lua_State* state) {
  const Rows& rows = *AsRows(state, 1);
  if (lua_isinteger(state, 2) == 0) {
    return luaL_error(
        state, "rows are read by number, as rows[1]; this reads \"%s\"",
        lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : luaL_typename(state, 2));
  }
  const lua_Integer at = lua_tointeger(state, 2);
  if (at < 1 || at > static_cast<lua_Integer>(rows.size())) {
    lua_pushnil(state);
  } else {
    PushHandle(state, &rows[static_cast<std::size_t>(at - 1)], kRow);
  }
  return 1;
}

int CountRows(lua_State* state) {
  lua_pushinteger(state, static_cast<lua_Integer>(AsRows(state, 1)->size()));
  return 1;
}

int IndexRow(lua_State* state) {
  const Row& row = *AsRow(state, 1);
  if (lua_type(state, 2) == LUA_TSTRING) {
    const std::string_view column = lua_tostring(state, 2);
    const auto found = std::find_if(row.begin(), row.end(),
                                    [&](const auto& cell) { return cell.first == column; });
    if (found != row.end()) {
      PushCell(state, found->second);
      return 1;
    }
  }
  std::vector<std::string> columns;
  for (const auto& [name, cell] : row) columns.push_back(name);
  return NoField(state, "the row", columns);
}

int SameRow(lua_State* state) {
  lua_pushboolean(state, static_cast<int>(AsRow(state, 1) == AsRow(state, 2)));
  return 1;
}

int IndexSpans(lua_State* state) {
  const std::shared_ptr<const Spans>& spans = *AsSpans(state, 1);
  const std::string_view field = lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : "";
  if (field == "time") {
    lua_pushnumber(state, spans == nullptr ? 0 : static_cast<double>(TotalOf(*spans)));
  } else if (field == "count") {
    lua_pushnumber(state, spans == nullptr ? 0 : static_cast<double>(CountOf(*spans)));
  } else {
    return NoField(state, "spans", {"time", "count"});
  }
  return 1;
}

int IndexRemedy(lua_State* state) {
  return luaL_error(state, "a remedy cannot be looked into: hand it to saving()");
}

// That on the stack top, when the first handle of its kind is made: few rules read one.
void FillMetatable(lua_State* state, const char* name) {
  const auto set = [state](const char* field, lua_CFunction function) {
    lua_pushcfunction(state, function);
    lua_setfield(state, -2, field);
  };
  set("__newindex", NoWriting);
  if (name == kRows) {
    set("__index", IndexRows);
    set("__len", CountRows);
  } else if (name == kRow) {
    set("__index", IndexRow);
    set("__eq", SameRow);
  } else {
    set("__index", name == kSpans ? IndexSpans : IndexRemedy);
  }
}

// Names of generated code may be longer than rules may hold: what tells them apart stands in front.
void PushText(lua_State* state, std::string_view text) {
  constexpr std::size_t kMost = 8U << 10U;
  const std::string_view shown = text.substr(0, kMost);
  lua_pushlstring(state, shown.data(), shown.size());
}

}  // namespace

void PushValue(lua_State* state, const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    lua_pushnumber(state, *number);
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    lua_pushboolean(state, static_cast<int>(*flag));
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    PushText(state, *text);
  } else if (const auto* rows = std::get_if<Rows>(&value)) {
    PushHandle(state, rows, kRows);
  } else if (const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&value)) {
    PushHandle(state, spans, kSpans);
  } else if (const auto* remedy = std::get_if<std::shared_ptr<const Remedy>>(&value)) {
    PushHandle(state, remedy, kRemedy);
  } else {
    lua_pushnil(state);
  }
}

void PushCell(lua_State* state, const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) {
    lua_pushnumber(state, *number);
  } else {
    PushText(state, std::get<std::string>(cell));
  }
}

const Rows* AsRows(lua_State* state, int index) { return AsHandle<Rows>(state, index, kRows); }
const Row* AsRow(lua_State* state, int index) { return AsHandle<Row>(state, index, kRow); }
const std::shared_ptr<const Spans>* AsSpans(lua_State* state, int index) {
  return AsHandle<std::shared_ptr<const Spans>>(state, index, kSpans);
}
const std::shared_ptr<const Remedy>* AsRemedy(lua_State* state, int index) {
  return AsHandle<std::shared_ptr<const Remedy>>(state, index, kRemedy);
}

Nanos TotalOf(const Spans& spans) {
  Nanos total = 0;
  for (const IntervalSet& set : spans.by_device) total += set.Total();
  return total;
}

std::size_t CountOf(const Spans& spans) {
  std::size_t count = 0;
  for (const IntervalSet& set : spans.by_device) count += set.intervals().size();
  return count;
}

}  // namespace advise
