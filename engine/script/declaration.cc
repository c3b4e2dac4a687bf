#include "engine/script/declaration.h"

#include <algorithm>
#include <lua.hpp>

#include "engine/script/handles.h"
#include "engine/script/run_context.h"
#include "engine/script/sandbox.h"
#include "engine/script/verdict_reader.h"

namespace advise {
namespace {

constexpr const char* kNoLoop =
    "too little of a loop was recorded: a start, a single pass or a few steps";

const Value* Read(RunContext& context, const FactPart& fact) {
  const Fact* found = context.Read(*fact.fact);
  return found == nullptr ? nullptr : &found->value;
}

double LengthOf(const Value& value) {
  const auto& spans = std::get<std::shared_ptr<const Spans>>(value);
  return spans == nullptr ? 0 : static_cast<double>(TotalOf(*spans));
}

double NumberOf(const Value& value, const FactPart& fact) {
  if (fact.part.empty()) return std::get<double>(value);
  if (fact.part == "time") return LengthOf(value);
  const auto& spans = std::get<std::shared_ptr<const Spans>>(value);
  return spans == nullptr ? 0 : static_cast<double>(CountOf(*spans));
}

bool IsThere(const Value& value, const FactPart& fact) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  if (const auto* rows = std::get_if<Rows>(&value)) return !rows->empty();
  if (fact.fact->unit == "spans" && fact.part.empty()) return LengthOf(value) > 0;
  return NumberOf(value, fact) > 0;
}

// The share of the device time that is lost, of a declared loss.
std::optional<double> LostShare(const Declaration& declared, RunContext& context) {
  const Value* lost = Read(context, {declared.lost, ""});
  const Value* window = Read(context, {declared.window, ""});
  if (lost == nullptr || window == nullptr) return std::nullopt;
  const double whole = std::get<double>(*window);
  return whole == 0 ? 0 : LengthOf(*lost) / whole;
}

bool IsLostShare(const Declaration& declared, std::string_view evidence, const FactPart& fact) {
  return declared.lost != nullptr && evidence == "share" && fact.fact == declared.lost;
}

bool Holds(const Declaration& declared, const Declaration::Limit& limit, RunContext& context) {
  std::optional<double> value;
  if (IsLostShare(declared, limit.evidence, limit.fact)) {
    value = LostShare(declared, context);
  } else if (const Value* fact = Read(context, limit.fact)) {
    value = NumberOf(*fact, limit.fact);
  }
  if (!value) return true;  // nothing to compare: the fact may be absent
  const Threshold* threshold =
      ThresholdOf(context.knowledge, *context.verdict.rule, limit.threshold);
  if (threshold == nullptr) return true;
  context.thresholds_read.push_back(threshold);
  return limit.is_least
             ? context.Compare("at_least", *value, threshold->value, 0, *value >= threshold->value)
             : context.Compare("at_most", *value, threshold->value, 0, *value <= threshold->value);
}

}  // namespace

bool Applies(const Declaration& declared, const std::vector<const FactInfo*>& needs,
             RunContext& context) {
  const auto refuse = [&](const std::string& reason) {
    context.verdict.outcome = Outcome::kNotApplicable;
    context.verdict.reason = reason;
    return false;
  };
  if (declared.loop != nullptr) {
    const Fact* loop = context.Read(*declared.loop);
    const bool* flag = loop == nullptr ? nullptr : std::get_if<bool>(&loop->value);
    if (flag != nullptr && !*flag) return refuse(kNoLoop);
  }
  if (declared.applies.fact == nullptr) return true;
  const Value* value = Read(context, declared.applies);
  if (value == nullptr) {
    context.FindMissing(needs);
    if (context.needs_missing) return false;
  }
  if (value == nullptr || !IsThere(*value, declared.applies))
    return refuse(declared.not_applicable);
  return true;
}

bool PushEvidence(lua_State* state, const Declaration& declared, RunContext& context) {
  bool fires = true;
  Sandbox::Of(state).OffTheClock([&] {
    fires = std::all_of(declared.limits.begin(), declared.limits.end(),
                        [&](const auto& limit) { return Holds(declared, limit, context); });
  });
  if (!fires) return false;
  lua_newtable(state);
  for (const Declaration::Shown& shown : declared.evidence) {
    if (IsLostShare(declared, shown.name, shown.fact)) {
      lua_pushnumber(state, LostShare(declared, context).value_or(0));
    } else {
      const Value* value = nullptr;
      Sandbox::Of(state).OffTheClock([&] { value = Read(context, shown.fact); });
      if (value == nullptr) continue;
      if (shown.fact.part.empty()) {
        PushValue(state, *value);
      } else {
        lua_pushnumber(state, NumberOf(*value, shown.fact));
      }
    }
    lua_setfield(state, -2, shown.name.c_str());
  }
  return true;
}

void FillSaving(const Declaration& declared, RunContext& context) {
  const Declaration::Saving& from = declared.saving;
  SavingClaim& saving = context.verdict.saving;
  for (const FactInfo* fact : from.claims) {
    const Fact* claims = context.Read(*fact);
    if (claims != nullptr) Claim(saving, std::get<std::shared_ptr<const Spans>>(claims->value));
  }
  for (const FactInfo* fact : from.remedies) {
    const Fact* remedy = context.Read(*fact);
    const auto* held =
        remedy == nullptr ? nullptr : std::get_if<std::shared_ptr<const Remedy>>(&remedy->value);
    if (held != nullptr && *held != nullptr) saving.remedies.push_back(*held);
  }
  double part = 1.0;
  if (const auto* name = std::get_if<std::string>(&from.part)) {
    const Threshold* threshold = ThresholdOf(context.knowledge, *context.verdict.rule, *name);
    if (threshold != nullptr) part = threshold->value;
    if (threshold != nullptr) context.thresholds_read.push_back(threshold);
  } else {
    part = std::get<double>(from.part);
  }
  saving.part = std::clamp(part, 0.0, 1.0);
  saving.confidence = from.confidence;
  saving.confidence_from = from.confidence_from;
  saving.basis = from.basis;
}

}  // namespace advise
