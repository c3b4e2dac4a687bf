#include "engine/script/run_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <lua.hpp>

#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/script/handles.h"
#include "engine/script/sandbox.h"

namespace advise {
namespace {

constexpr const char* kFactTree = "facts";
constexpr const char* kThresholds = "thresholds";

std::string Shown(const Value& value, const std::string& unit) {
  if (const auto* absent = std::get_if<Absent>(&value)) return "absent: " + absent->reason;
  if (const auto* number = std::get_if<double>(&value)) return FormatQuantity(*number, unit);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* text = std::get_if<std::string>(&value)) return SafeText(*text);
  if (const auto* rows = std::get_if<Rows>(&value)) {
    return fmt::format("{} row{}", rows->size(), rows->size() == 1 ? "" : "s");
  }
  if (const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&value)) {
    if (*spans == nullptr) return "no time";
    const auto pieces = CountOf(**spans);
    return fmt::format("{} in {} piece{}",
                       FormatQuantity(static_cast<double>(TotalOf(**spans)), "ns"), pieces,
                       pieces == 1 ? "" : "s");
  }
  return "a remedy";
}

const FactNode& NodeOf(lua_State* state) {
  return **static_cast<const FactNode**>(luaL_checkudata(state, 1, kFactTree));
}

int IndexFacts(lua_State* state) {
  const FactNode& node = NodeOf(state);
  const std::string part =
      lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : luaL_typename(state, 2);
  const auto found = node.children.find(part);
  const std::string path = node.path.empty() ? part : node.path + "." + part;
  if (found == node.children.end()) {
    std::vector<std::string> declared = Sandbox::Of(state).context->verdict.rule->needs;
    const std::vector<std::string>& more = Sandbox::Of(state).context->verdict.rule->optional;
    declared.insert(declared.end(), more.begin(), more.end());
    const std::string near = DidYouMean(path, declared);
    return luaL_error(state, "fact \"%s\" is not declared: add it to needs or optional%s",
                      path.c_str(),
                      near.empty() ? "" : (" (or did you mean \"" + near + "\"?)").c_str());
  }
  const FactNode& child = found->second;
  if (child.fact == nullptr) {
    PushFacts(state, child);
    return 1;
  }
  Sandbox& sandbox = Sandbox::Of(state);
  const Fact* fact = nullptr;
  sandbox.OffTheClock([&] { fact = sandbox.context->Read(*child.fact); });
  if (fact != nullptr) {
    PushValue(state, fact->value);
  } else if (child.is_optional) {
    lua_pushnil(state);
  } else {
    sandbox.context->FindMissing({child.fact});
    return luaL_error(state, "fact \"%s\" is absent", path.c_str());
  }
  return 1;
}

int NoWritingOfFacts(lua_State* state) { return luaL_error(state, "facts cannot be changed"); }

int NoThresholdWriting(lua_State* state) {
  return luaL_error(state, "thresholds cannot be changed");
}

int IndexThresholds(lua_State* state) {
  RunContext& context = *Sandbox::Of(state).context;
  const RuleInfo& rule = *context.verdict.rule;
  const std::string name =
      lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : luaL_typename(state, 2);
  const bool declared = IsIn(name, rule.thresholds);
  const Threshold* threshold = declared ? ThresholdOf(context.knowledge, rule, name) : nullptr;
  if (threshold == nullptr) {
    const std::string near = DidYouMean(name, rule.thresholds);
    return luaL_error(
        state, "threshold \"%s\" is not declared%s", name.c_str(),
        near.empty() ? ": add it to thresholds" : (" (did you mean \"" + near + "\"?)").c_str());
  }
  context.thresholds_read.push_back(threshold);
  lua_pushnumber(state, threshold->value);
  return 1;
}

}  // namespace

const Fact* RunContext::Read(const FactInfo& info) {
  const Fact* fact = facts.Find(info.name);
  const bool absent = fact == nullptr || std::holds_alternative<Absent>(fact->value);
  const auto known = std::find_if(verdict.reads.begin(), verdict.reads.end(),
                                  [&](const FactRead& read) { return read.name == info.name; });
  if (known == verdict.reads.end()) {
    verdict.reads.push_back(
        {info.name, fact == nullptr ? "absent" : Shown(fact->value, info.unit)});
  }
  return absent ? nullptr : fact;
}

// The threshold is known when its value was read last with that value.
bool RunContext::Compare(const char* what, double value, double threshold, double upper,
                         bool holds) {
  if (every_comparison) return *every_comparison;
  Comparison made{what, value, threshold, upper, "", "", holds};
  const auto found =
      std::find_if(thresholds_read.rbegin(), thresholds_read.rend(),
                   [&](const Threshold* candidate) { return candidate->value == threshold; });
  if (found != thresholds_read.rend()) {
    made.name = (*found)->name;
    made.unit = (*found)->unit;
  }
  verdict.comparisons.push_back(std::move(made));
  return holds;
}

bool RunContext::FindMissing(const std::vector<const FactInfo*>& needs) {
  std::vector<std::string> reasons;
  for (const FactInfo* need : needs) {
    const Fact* fact = facts.Find(need->name);
    const Absent* absent = fact == nullptr ? nullptr : std::get_if<Absent>(&fact->value);
    if (fact != nullptr && absent == nullptr) continue;
    Read(*need);
    const bool has_reason = absent != nullptr && !absent->reason.empty();
    std::string reason = has_reason ? absent->reason : need->name + " is not there";
    if (!IsIn(reason, reasons)) {
      reasons.push_back(std::move(reason));
    }
    if (absent != nullptr && !absent->needs.empty() && !IsIn(absent->needs, verdict.missing)) {
      verdict.missing.push_back(absent->needs);
    }
  }
  if (reasons.empty()) return false;
  needs_missing = true;
  verdict.outcome = Outcome::kCannotTell;
  verdict.reason = fmt::format("{}", fmt::join(reasons, "; "));
  return true;
}

const Threshold* ThresholdOf(const Knowledge& knowledge, const RuleInfo& rule,
                             std::string_view name) {
  const Threshold* own = knowledge.FindThreshold(rule.id, name);
  if (own != nullptr || rule.replaces.empty()) return own;
  return knowledge.FindThreshold(rule.replaces, name);
}

void InstallFactTree(lua_State* state) {
  luaL_newmetatable(state, kFactTree);
  lua_pushcfunction(state, IndexFacts);
  lua_setfield(state, -2, "__index");
  lua_pushcfunction(state, NoWritingOfFacts);
  lua_setfield(state, -2, "__newindex");
  luaL_newmetatable(state, kThresholds);
  lua_pushcfunction(state, IndexThresholds);
  lua_setfield(state, -2, "__index");
  lua_pushcfunction(state, NoThresholdWriting);
  lua_setfield(state, -2, "__newindex");
  lua_pop(state, 2);
}

void PushFacts(lua_State* state, const FactNode& root) {
  *static_cast<const FactNode**>(lua_newuserdatauv(state, sizeof(void*), 0)) = &root;
  luaL_setmetatable(state, kFactTree);
}

void PushThresholds(lua_State* state) {
  lua_newuserdatauv(state, 0, 0);
  luaL_setmetatable(state, kThresholds);
}

}  // namespace advise
