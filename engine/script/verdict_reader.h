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

// Adds spans to what a saving claims; null adds nothing.
void Claim(SavingClaim& saving, const std::shared_ptr<const Spans>& spans);

bool IsEvidenceName(std::string_view name);

// A list of records or a rows handle; `what` names it in errors. Columns of records made in Lua
// come texts first, then numbers, each by name: Lua's own order changes from run to run.
Rows ReadRows(lua_State* state, int index, const std::string& what);

}  // namespace advise
