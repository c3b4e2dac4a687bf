#include "engine/script/library.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <lua.hpp>
#include <string>
#include <vector>

#include "engine/base/text.h"
#include "engine/script/api.h"
#include "engine/script/handles.h"
#include "engine/script/run_context.h"
#include "engine/script/sandbox.h"

namespace advise {
namespace {

constexpr char kEnvironment = 'e';  // its address is the key of the environment in the registry

std::vector<std::string> StringKeys(lua_State* state, int table) {
  std::vector<std::string> keys;
  lua_pushnil(state);
  while (lua_next(state, table) != 0) {
    lua_pop(state, 1);
    if (lua_type(state, -1) == LUA_TSTRING) keys.emplace_back(lua_tostring(state, -1));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

// __index of a table of names: the name is not there. Upvalue: "global " or "string.".
int MissingName(lua_State* state) {
  const std::string name =
      lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : luaL_typename(state, 2);
  const std::string near = DidYouMean(name, StringKeys(state, 1));
  const std::string text = std::string("rules have no ") +
                           lua_tostring(state, lua_upvalueindex(1)) + name +
                           (near.empty() ? "" : " (did you mean " + near + "?)");
  return luaL_error(state, "%s", text.c_str());
}

int NoWriting(lua_State* state) {
  const char* name = lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : "?";
  return luaL_error(state, "%s cannot be changed: use a local variable (writing \"%s\")",
                    lua_tostring(state, lua_upvalueindex(1)), name);
}

// Replaces the table on the stack by one that reads from it and refuses writing and unknown names.
void Freeze(lua_State* state, const char* what, const char* prefix) {
  lua_createtable(state, 0, 1);
  lua_pushstring(state, prefix);
  lua_pushcclosure(state, MissingName, 1);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);

  lua_newtable(state);
  lua_createtable(state, 0, 2);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "__index");
  lua_pushstring(state, what);
  lua_pushcclosure(state, NoWriting, 1);
  lua_setfield(state, -2, "__newindex");
  lua_setmetatable(state, -2);
  lua_remove(state, -2);
}

// Never an address; whole numbers without ".0".
int ToString(lua_State* state) {
  luaL_checkany(state, 1);
  switch (lua_type(state, 1)) {
    case LUA_TNUMBER: {
      const double value = lua_tonumber(state, 1);
      if (lua_isinteger(state, 1) == 0 && value == std::floor(value) && std::abs(value) < 1e15) {
        lua_pushinteger(state, static_cast<lua_Integer>(value));
      } else {
        lua_pushvalue(state, 1);
      }
      lua_tolstring(state, -1, nullptr);
      return 1;
    }
    case LUA_TSTRING:
      lua_pushvalue(state, 1);
      return 1;
    case LUA_TBOOLEAN:
      lua_pushstring(state, lua_toboolean(state, 1) != 0 ? "true" : "false");
      return 1;
    case LUA_TUSERDATA:
      if (luaL_getmetafield(state, 1, "__name") == LUA_TSTRING) return 1;
      [[fallthrough]];
    default:
      lua_pushstring(state, luaL_typename(state, 1));
      return 1;
  }
}

// Elements or bytes that a function of Lua's library will go through.
using Work = std::int64_t (*)(lua_State* state);

std::int64_t TextWork(lua_State* state) {
  return lua_type(state, 1) == LUA_TSTRING ? static_cast<std::int64_t>(lua_rawlen(state, 1) / 16)
                                           : 0;
}

std::int64_t ListWork(lua_State* state) {
  return lua_type(state, 1) == LUA_TTABLE ? static_cast<std::int64_t>(lua_rawlen(state, 1)) : 0;
}

// insert and remove shift what stands behind the place; at the end of the list nothing does.
template <int kArguments>
std::int64_t ShiftWork(lua_State* state) {
  return lua_gettop(state) >= kArguments ? ListWork(state) : 0;
}

// Charges for the work, then does it. Upvalue: the function.
template <Work kWork>
int WithCharge(lua_State* state) {
  Sandbox::Of(state).Charge(state, kWork(state));
  return lua_tocfunction(state, lua_upvalueindex(1))(state);
}

bool ComesBefore(lua_State* state, int first, int second) {
  if (lua_isnoneornil(state, 2)) return lua_compare(state, first, second, LUA_OPLT) != 0;
  lua_pushvalue(state, 2);
  lua_pushvalue(state, first);
  lua_pushvalue(state, second);
  lua_call(state, 2, 1);
  const bool before = lua_toboolean(state, -1) != 0;
  lua_pop(state, 1);
  return before;
}

// table.sort, but stable and never random: Lua's own picks pivots by the clock. A merge sort does
// not mind an inconsistent comparison either.
int Sort(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  if (!lua_isnoneornil(state, 2)) luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_settop(state, 2);
  const auto size = static_cast<lua_Integer>(lua_rawlen(state, 1));
  lua_createtable(state, static_cast<int>(size), 0);
  int from = 1;
  int to = 3;
  for (lua_Integer width = 1; width < size; width *= 2) {
    Sandbox::Of(state).Charge(state, size);
    for (lua_Integer start = 1; start <= size; start += 2 * width) {
      const lua_Integer middle = std::min(start + width, size + 1);
      const lua_Integer end = std::min(start + 2 * width, size + 1);
      lua_Integer left = start;
      lua_Integer right = middle;
      for (lua_Integer at = start; at < end; ++at) {
        bool take_right = left >= middle;
        if (!take_right && right < end) {
          lua_rawgeti(state, from, right);
          lua_rawgeti(state, from, left);
          take_right = ComesBefore(state, 4, 5);
          lua_pop(state, 2);
        }
        lua_rawgeti(state, from, take_right ? right++ : left++);
        lua_rawseti(state, to, at);
      }
    }
    std::swap(from, to);
  }
  for (lua_Integer at = 1; from == 3 && at <= size; ++at) {
    lua_rawgeti(state, 3, at);
    lua_rawseti(state, 1, at);
  }
  return 0;
}

// Replaces the library on the stack top by a new table with some of its names.
void Pick(lua_State* state, const std::vector<const char*>& names) {
  lua_newtable(state);
  for (const char* name : names) {
    lua_getfield(state, -2, name);
    lua_setfield(state, -2, name);
  }
  lua_remove(state, -2);
}

// Replaces a function of the table on the stack top by one that charges for its work.
void SetCharge(lua_State* state, const char* name, lua_CFunction with_charge) {
  lua_getfield(state, -1, name);
  lua_pushcclosure(state, with_charge, 1);
  lua_setfield(state, -2, name);
}

}  // namespace

void InstallLibrary(lua_State* state) {
  luaL_requiref(state, "base", luaopen_base, 0);
  Pick(state, {"type", "tonumber", "ipairs", "select", "assert", "error"});
  const int globals = lua_gettop(state);
  lua_pushcfunction(state, ToString);
  lua_setfield(state, globals, "tostring");

  luaL_requiref(state, "math", luaopen_math, 0);
  Pick(state,
       {"abs",  "ceil",       "cos",        "deg",  "exp",  "floor", "fmod", "huge", "log",
        "max",  "min",        "modf",       "pi",   "rad",  "sin",   "sqrt", "tan",  "tointeger",
        "type", "maxinteger", "mininteger", "acos", "asin", "atan",  "ult"});
  Freeze(state, "math", "math.");
  lua_setfield(state, globals, "math");

  luaL_requiref(state, "table", luaopen_table, 0);
  Pick(state, {"concat", "insert", "remove", "unpack"});
  SetCharge(state, "concat", WithCharge<ListWork>);
  SetCharge(state, "unpack", WithCharge<ListWork>);
  SetCharge(state, "insert", WithCharge<ShiftWork<3>>);
  SetCharge(state, "remove", WithCharge<ShiftWork<2>>);
  lua_pushcfunction(state, Sort);
  lua_setfield(state, -2, "sort");
  Freeze(state, "table", "table.");
  lua_setfield(state, globals, "table");

  // The metatable of strings is replaced: Lua's own gives names:find() and arithmetic on texts.
  luaL_requiref(state, "string", luaopen_string, 0);
  Pick(state, {"lower", "upper", "sub", "len", "byte"});
  for (const char* name : {"lower", "upper", "sub", "byte"}) {
    SetCharge(state, name, WithCharge<TextWork>);
  }
  Freeze(state, "string", "string.");
  lua_pushstring(state, "");
  lua_createtable(state, 0, 1);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
  lua_pop(state, 1);
  lua_setfield(state, globals, "string");

  InstallHandles(state);
  InstallFactTree(state);
  lua_settop(state, globals);
  InstallApi(state);
  Freeze(state, "globals", "global ");
  lua_rawsetp(state, LUA_REGISTRYINDEX, &kEnvironment);

  // Nothing may lead back to the full libraries.
  lua_newtable(state);
  lua_rawseti(state, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
}

void PushEnvironment(lua_State* state) { lua_rawgetp(state, LUA_REGISTRYINDEX, &kEnvironment); }

}  // namespace advise
