// The functions that rules have beside Lua's own library: comparisons that `advise why` can show,
// and a few helpers for rows and names. rules/lib/api.d.lua tells editors the same.
#pragma once

struct lua_State;

namespace advise {

// Adds them to the table on the stack top.
void InstallApi(lua_State* state);

}  // namespace advise
