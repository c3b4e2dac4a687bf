// The part of Lua's own library that rules may use, frozen. What is missing is missing on purpose:
// patterns (hostile ones run for minutes inside C, where no limit is checked), pairs and next (the
// order of string keys changes from run to run), pcall (it swallows limit errors), format and rep,
// random numbers, coroutines, metatables, files, the system.
#pragma once

struct lua_State;

namespace advise {

// Prepares a new state; call inside Sandbox::Protect.
void InstallLibrary(lua_State* state);
// Pushes the table that chunks see as their globals: reading an unknown name or writing any is an
// error.
void PushEnvironment(lua_State* state);

}  // namespace advise
