#include "engine/script/lua_library.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <lua.hpp>
#include <memory>
#include <new>
#include <numbers>
#include <string>
#include <vector>

#include "engine/base/text.h"
#include "engine/script/api.h"
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

// The name at 2 is not in the table at 1. Upvalue: "global " or "string.".
int NoName(lua_State* state, const std::vector<std::string>& known) {
  const std::string name =
      lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : luaL_typename(state, 2);
  const std::string near = DidYouMean(name, known);
  const std::string text = std::string("rules have no ") +
                           lua_tostring(state, lua_upvalueindex(1)) + name +
                           (near.empty() ? "" : " (did you mean " + near + "?)");
  return luaL_error(state, "%s", text.c_str());
}

int MissingName(lua_State* state) { return NoName(state, StringKeys(state, 1)); }

int NoWritingOfLibrary(lua_State* state) {
  const char* name = lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : "?";
  return luaL_error(state, "%s cannot be changed: use a local variable (writing \"%s\")",
                    lua_tostring(state, lua_upvalueindex(1)), name);
}

// Replaces the table on the stack by one that reads from it and refuses writing. `missing` is
// called for names that are not there; `prefix` is its upvalue.
void Freeze(lua_State* state, const char* what, lua_CFunction missing, const char* prefix) {
  lua_createtable(state, 0, 1);
  lua_pushstring(state, prefix);
  lua_pushcclosure(state, missing, 1);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);

  lua_newtable(state);
  lua_createtable(state, 0, 2);
  lua_pushvalue(state, -3);
  lua_setfield(state, -2, "__index");
  lua_pushstring(state, what);
  lua_pushcclosure(state, NoWritingOfLibrary, 1);
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

using Functions = std::vector<luaL_Reg>;

// The functions of one of Lua's libraries that rules may call. They are the same in every state and
// are looked up once; a rule's own state never holds a whole library.
Functions Pick(lua_CFunction open, std::initializer_list<const char*> names) {
  const std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), lua_close);
  if (state == nullptr) throw std::bad_alloc();
  luaL_requiref(state.get(), "library", open, 0);
  Functions picked;
  for (const char* name : names) {
    lua_getfield(state.get(), -1, name);
    picked.push_back({name, lua_tocfunction(state.get(), -1)});
    lua_pop(state.get(), 1);
  }
  return picked;
}

// Pushes a table of these functions, with room for `more` other names.
void PushLibrary(lua_State* state, const Functions& functions, int more) {
  lua_createtable(state, 0, static_cast<int>(functions.size()) + more);
  for (const luaL_Reg& function : functions) {
    lua_pushcfunction(state, function.func);
    lua_setfield(state, -2, function.name);
  }
}

// Replaces a function of the table on the stack top by one that charges for its work.
void SetCharge(lua_State* state, const char* name, lua_CFunction with_charge) {
  lua_getfield(state, -1, name);
  lua_pushcclosure(state, with_charge, 1);
  lua_setfield(state, -2, name);
}

void PushMath(lua_State* state) {
  static const Functions functions =
      Pick(luaopen_math, {"abs", "ceil",      "cos",  "deg",  "exp",  "floor", "fmod",
                          "log", "max",       "min",  "modf", "rad",  "sin",   "sqrt",
                          "tan", "tointeger", "type", "acos", "asin", "atan",  "ult"});
  PushLibrary(state, functions, 4);
  lua_pushnumber(state, std::numbers::pi);
  lua_setfield(state, -2, "pi");
  lua_pushnumber(state, HUGE_VAL);
  lua_setfield(state, -2, "huge");
  lua_pushinteger(state, LUA_MAXINTEGER);
  lua_setfield(state, -2, "maxinteger");
  lua_pushinteger(state, LUA_MININTEGER);
  lua_setfield(state, -2, "mininteger");
  Freeze(state, "math", MissingName, "math.");
}

void PushTable(lua_State* state) {
  static const Functions functions = Pick(luaopen_table, {"concat", "insert", "remove", "unpack"});
  PushLibrary(state, functions, 1);
  SetCharge(state, "concat", WithCharge<ListWork>);
  SetCharge(state, "unpack", WithCharge<ListWork>);
  SetCharge(state, "insert", WithCharge<ShiftWork<3>>);
  SetCharge(state, "remove", WithCharge<ShiftWork<2>>);
  lua_pushcfunction(state, Sort);
  lua_setfield(state, -2, "sort");
  Freeze(state, "table", MissingName, "table.");
}

void PushString(lua_State* state) {
  static const Functions functions = Pick(luaopen_string, {"lower", "upper", "sub", "len", "byte"});
  PushLibrary(state, functions, 0);
  for (const char* name : {"lower", "upper", "sub", "byte"}) {
    SetCharge(state, name, WithCharge<TextWork>);
  }
  Freeze(state, "string", MissingName, "string.");
}

struct Library {
  const char* name;
  void (*push)(lua_State* state);
};
constexpr std::array<Library, 3> kLibraries = {
    {{"math", PushMath}, {"string", PushString}, {"table", PushTable}}};

// A library is made when its name is first read: few rules read one.
int MissingGlobal(lua_State* state) {
  std::vector<std::string> known = StringKeys(state, 1);
  for (const Library& library : kLibraries) {
    known.emplace_back(library.name);
    lua_pushstring(state, library.name);
    if (lua_rawequal(state, 2, -1) == 0) continue;
    library.push(state);
    lua_pushvalue(state, -1);
    lua_setfield(state, 1, library.name);
    return 1;
  }
  return NoName(state, known);
}

// __index of texts: ("x"):upper() is string.upper("x").
int TextMethod(lua_State* state) {
  PushEnvironment(state);
  lua_getfield(state, -1, "string");
  lua_pushvalue(state, 2);
  lua_gettable(state, -2);
  return 1;
}

}  // namespace

void InstallLibrary(lua_State* state) {
  static const Functions base =
      Pick(luaopen_base, {"type", "tonumber", "ipairs", "select", "assert", "error"});
  PushLibrary(state, base, 11);  // tostring and the functions of api.cc
  const int globals = lua_gettop(state);
  lua_pushcfunction(state, ToString);
  lua_setfield(state, globals, "tostring");

  // Lua's own library for texts, with its metatable, is never opened here: it gives names:find()
  // and arithmetic on texts.
  lua_pushstring(state, "");
  lua_createtable(state, 0, 1);
  lua_pushcfunction(state, TextMethod);
  lua_setfield(state, -2, "__index");
  lua_setmetatable(state, -2);
  lua_pop(state, 1);

  InstallFactTree(state);
  lua_settop(state, globals);
  InstallApi(state);
  Freeze(state, "globals", MissingGlobal, "global ");
  lua_rawsetp(state, LUA_REGISTRYINDEX, &kEnvironment);
}

void PushEnvironment(lua_State* state) { lua_rawgetp(state, LUA_REGISTRYINDEX, &kEnvironment); }

}  // namespace advise
