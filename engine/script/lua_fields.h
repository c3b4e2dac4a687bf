// Reads the fields of Lua tables that a rule file returned, and collects every problem as
// "file:line: field: wanted …, got …". Works inside Sandbox::Protect. Tables are read raw.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

struct lua_State;

namespace advise {

class LuaFields {
 public:
  enum class Need { kMust, kMay };

  // `text` is the file's text: the line of a field is looked up there.
  LuaFields(lua_State* state, std::string path, std::string_view text, std::vector<Error>& errors)
      : state_(state), path_(std::move(path)), text_(text), errors_(errors) {}

  // `field` is a path such as "fixes[2].action"; its first part gives the line.
  void Problem(std::string_view field, std::string what, std::string hint = "");

  // Fields of the table at `table`. `label` is put before the name in messages.
  std::string Text(int table, const char* field, Need need, const std::string& label = "");
  std::vector<std::string> Texts(int table, const char* field, Need need,
                                 const std::string& label = "");
  double Number(int table, const char* field, double otherwise, const std::string& label = "");
  bool Flag(int table, const char* field, bool otherwise);
  // Whether the field is a function; another type is a problem, and so is none when kMust.
  bool Function(int table, const char* field, Need need);
  // Reports fields that are not in `known`, and values without a name.
  void OnlyFields(int table, std::initializer_list<std::string_view> known,
                  const std::string& label = "");
  // Leaves the list on the stack and returns its length; -1 (and nothing pushed) when there is
  // none.
  int List(int table, const char* field, Need need, const std::string& label = "");

  lua_State* state() const { return state_; }

 private:
  void Wanted(const std::string& field, std::string_view wanted, int index);
  // Pushes the raw field; reports and pops a missing one.
  bool Push(int table, const char* field, Need need, const std::string& label);

  lua_State* state_;
  std::string path_;
  std::string_view text_;
  std::vector<Error>& errors_;
};

// What a value is, for messages: `the text "x"`, `the number 3`, `nil`, `a table`.
std::string DescribeLua(lua_State* state, int index);

// Whether a table has the keys 1 to its length and no others.
bool IsList(lua_State* state, int table);

// The names of a table, but for these, sorted: Lua's own order changes from run to run.
std::vector<std::string> SortedKeys(lua_State* state, int table,
                                    std::initializer_list<std::string_view> but = {});

}  // namespace advise
