#include "engine/script/lua_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <lua.hpp>

#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {
namespace {

// The line on which `name =` stands first, or 0.
int LineOfField(std::string_view text, std::string_view name) {
  int line = 1;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view one = text.substr(0, end);
    one.remove_prefix(std::min(one.find_first_not_of(" \t"), one.size()));
    if (one.substr(0, name.size()) == name) {
      one.remove_prefix(name.size());
      one.remove_prefix(std::min(one.find_first_not_of(" \t"), one.size()));
      if (!one.empty() && one.front() == '=') return line;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
  }
  return 0;
}

}  // namespace

std::string DescribeLua(lua_State* state, int index) {
  switch (lua_type(state, index)) {
    case LUA_TNIL:
    case LUA_TNONE:
      return "nil";
    case LUA_TBOOLEAN:
      return lua_toboolean(state, index) != 0 ? "true" : "false";
    case LUA_TNUMBER:
      return fmt::format("the number {:.15g}", lua_tonumber(state, index));
    case LUA_TSTRING: {
      std::string_view text = lua_tostring(state, index);
      return fmt::format("the text \"{}\"{}", text.substr(0, 60), text.size() > 60 ? " …" : "");
    }
    default:
      return fmt::format("a {}", luaL_typename(state, index));
  }
}

std::vector<std::string> SortedKeys(lua_State* state, int table,
                                    std::initializer_list<std::string_view> but) {
  const int at = lua_absindex(state, table);
  std::vector<std::string> keys;
  lua_pushnil(state);
  while (lua_next(state, at) != 0) {
    lua_pop(state, 1);
    if (lua_type(state, -1) == LUA_TSTRING) {
      const std::string_view key = lua_tostring(state, -1);
      if (!IsIn(key, but)) keys.emplace_back(key);
    } else if (lua_isinteger(state, -1) != 0) {
      keys.push_back(fmt::format("[{}]", lua_tointeger(state, -1)));
    } else {
      keys.push_back(fmt::format("[{}]", luaL_typename(state, -1)));
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

bool IsList(lua_State* state, int table) {
  const int at = lua_absindex(state, table);
  const auto length = static_cast<lua_Integer>(lua_rawlen(state, at));
  lua_Integer entries = 0;
  lua_pushnil(state);
  while (lua_next(state, at) != 0) {
    lua_pop(state, 1);
    ++entries;
  }
  return entries == length;
}

void LuaFields::Problem(std::string_view field, std::string what, std::string hint) {
  const int line = LineOfField(text_, field.substr(0, field.find_first_of(".[")));
  errors_.push_back({fmt::format("{}: {}", field, what),
                     line == 0 ? path_ : fmt::format("{}:{}", path_, line), std::move(hint)});
}

void LuaFields::Wanted(const std::string& field, std::string_view wanted, int index) {
  Problem(field, fmt::format("wanted {}, got {}", wanted, DescribeLua(state_, index)));
}

bool LuaFields::Push(int table, const char* field, Need need, const std::string& label) {
  const int at = lua_absindex(state_, table);
  lua_pushstring(state_, field);
  if (lua_rawget(state_, at) != LUA_TNIL) return true;
  lua_pop(state_, 1);
  if (need == Need::kMust) Problem(label + field, "missing field");
  return false;
}

std::string LuaFields::Text(int table, const char* field, Need need, const std::string& label) {
  if (!Push(table, field, need, label)) return "";
  std::string text;
  if (lua_type(state_, -1) != LUA_TSTRING) {
    Wanted(label + field, "a text", -1);
  } else {
    text = lua_tostring(state_, -1);
    if (text.find_first_not_of(" \t\n") == std::string::npos) Problem(label + field, "is empty");
  }
  lua_pop(state_, 1);
  return text;
}

int LuaFields::List(int table, const char* field, Need need, const std::string& label) {
  if (!Push(table, field, need, label)) return -1;
  if (lua_type(state_, -1) != LUA_TTABLE) {
    Wanted(label + field, "a list", -1);
    lua_pop(state_, 1);
    return -1;
  }
  const auto length = static_cast<int>(lua_rawlen(state_, -1));
  if (!IsList(state_, -1)) {
    Problem(label + field, "wanted a list, got a table with names or holes in it");
  }
  return length;
}

std::vector<std::string> LuaFields::Texts(int table, const char* field, Need need,
                                          const std::string& label) {
  std::vector<std::string> texts;
  const int length = List(table, field, need, label);
  if (length < 0) return texts;
  for (int i = 1; i <= length; ++i) {
    lua_rawgeti(state_, -1, i);
    const auto name = [&] { return fmt::format("{}{}[{}]", label, field, i); };
    if (lua_type(state_, -1) != LUA_TSTRING) {
      Wanted(name(), "a text", -1);
    } else {
      texts.emplace_back(lua_tostring(state_, -1));
      if (std::count(texts.begin(), texts.end(), texts.back()) > 1) {
        Problem(name(), fmt::format("\"{}\" is named twice", texts.back()));
      }
    }
    lua_pop(state_, 1);
  }
  lua_pop(state_, 1);
  return texts;
}

double LuaFields::Number(int table, const char* field, double otherwise, const std::string& label) {
  if (!Push(table, field, Need::kMay, label)) return otherwise;
  double number = otherwise;
  if (lua_type(state_, -1) != LUA_TNUMBER) {
    Wanted(label + field, "a number", -1);
  } else {
    number = lua_tonumber(state_, -1);
  }
  lua_pop(state_, 1);
  return number;
}

bool LuaFields::Flag(int table, const char* field, bool otherwise) {
  if (!Push(table, field, Need::kMay, "")) return otherwise;
  const bool is_flag = lua_type(state_, -1) == LUA_TBOOLEAN;
  if (!is_flag) Wanted(field, "true or false", -1);
  const bool flag = is_flag ? lua_toboolean(state_, -1) != 0 : otherwise;
  lua_pop(state_, 1);
  return flag;
}

bool LuaFields::Function(int table, const char* field, Need need) {
  if (!Push(table, field, need, "")) return false;
  const bool is_function = lua_type(state_, -1) == LUA_TFUNCTION;
  if (!is_function) Wanted(field, "a function", -1);
  lua_pop(state_, 1);
  return is_function;
}

void LuaFields::OnlyFields(int table, std::initializer_list<std::string_view> known,
                           const std::string& label) {
  for (const std::string& key : SortedKeys(state_, table, known)) {
    const std::vector<std::string> names(known.begin(), known.end());
    const std::string near = DidYouMean(key, names);
    Problem(label + key, "unknown field",
            near.empty() ? fmt::format("known fields: {}", fmt::join(names, ", "))
                         : fmt::format("did you mean \"{}\"?", near));
  }
}

}  // namespace advise
