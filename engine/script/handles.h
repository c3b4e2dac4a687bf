// How facts look inside Lua: numbers, texts and flags as such; rows, spans and remedies as
// read-only handles that point into the facts and are valid for one call of a rule.
#pragma once

#include <memory>

#include "engine/facts/facts.h"

struct lua_State;

namespace advise {

// Pushes the value of a fact that is there (not Absent). `value` must outlive the call of the rule.
void PushValue(lua_State* state, const Value& value);

void PushCell(lua_State* state, const Cell& cell);

// What a handle stands for, or nullptr when the value is something else.
const Rows* AsRows(lua_State* state, int index);
const Row* AsRow(lua_State* state, int index);
const std::shared_ptr<const Spans>* AsSpans(lua_State* state, int index);
const std::shared_ptr<const Remedy>* AsRemedy(lua_State* state, int index);

// Summed length over all devices.
Nanos TotalOf(const Spans& spans);
std::size_t CountOf(const Spans& spans);

}  // namespace advise
