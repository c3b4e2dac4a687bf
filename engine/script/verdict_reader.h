// What detect() and saving() return, checked and turned into a Verdict. Internal to script/.
// Works inside Sandbox::Protect; anything wrong is an error of Lua.
#pragma once

#include "engine/advice/finding.h"

struct lua_State;

namespace advise {

// The evidence table at `index`: finite numbers, texts, rows.
void ReadEvidence(lua_State* state, int index, Verdict& verdict);
// The table of saving() at `index`.
void ReadSaving(lua_State* state, int index, SavingClaim& saving);

// A list of records or a rows handle; `what` names it in errors. Columns of records made in Lua
// come texts first, then numbers, each by name: Lua's own order changes from run to run.
Rows ReadRows(lua_State* state, int index, const std::string& what);

}  // namespace advise
