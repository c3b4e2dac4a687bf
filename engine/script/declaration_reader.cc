// Reading what a rule declares: declaration.h.
#include <fmt/format.h>

#include <algorithm>
#include <lua.hpp>

#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/script/declaration.h"
#include "engine/script/verdict_reader.h"

namespace advise {
namespace {

using Need = LuaFields::Need;

constexpr const char* kLoopFact = "window.supports_verdict";
constexpr const char* kDeviceTime = "window.device_time";
constexpr const char* kNothing = "it did not happen in this run";

bool IsNumber(const FactPart& fact) {
  if (!fact.part.empty()) return true;
  const std::string& unit = fact.fact->unit;
  return unit != "name" && unit != "flag" && unit != "rows" && unit != "spans" && unit != "remedy";
}

class DeclarationReader {
 public:
  DeclarationReader(LuaFields& fields, int table, const FactCatalog& catalog, RuleInfo& rule)
      : state_(fields.state()), fields_(fields), table_(table), catalog_(catalog), rule_(rule) {}

  Declaration Read() {
    if (fields_.Flag(table_, "needs_loop", false)) {
      made_.loop = Fact("needs_loop", kLoopFact);
      AddTo(rule_.optional, made_.loop);
    }
    ReadGroup();
    ReadEvidence();
    ReadApplies();
    if (made_.has_evidence) ReadLimits();
    if (IsTable("saving")) ReadSaving();
    AddNeeds();
    return std::move(made_);
  }

 private:
  bool IsType(const char* field, int type) {
    const bool is = lua_getfield(state_, table_, field) == type;
    lua_pop(state_, 1);
    return is;
  }
  bool IsTable(const char* field) { return IsType(field, LUA_TTABLE); }

  const FactInfo* Find(const std::string& name) const {
    const auto found = catalog_.find(name);
    return found == catalog_.end() ? nullptr : &found->second;
  }

  // A fact that must exist, by its whole name.
  const FactInfo* Fact(const char* field, const std::string& name) {
    const FactInfo* fact = Find(name);
    if (fact == nullptr) NoFact(field, name);
    return fact;
  }

  void NoFact(const std::string& field, const std::string& name) {
    std::vector<std::string> known;
    for (const auto& [one, info] : catalog_) {
      known.push_back(one);
      if (!group_.empty() && one.starts_with(group_ + ".")) {
        known.push_back(one.substr(group_.size() + 1));
      }
    }
    const std::string near = DidYouMean(name, known);
    fields_.Problem(
        field,
        fmt::format("there is no fact \"{}\"{}", name,
                    group_.empty() ? "" : fmt::format(", nor \"{}.{}\"", group_, name)),
        near.empty() ? "`advise facts --list` prints them" : "did you mean \"" + near + "\"?");
  }

  // "count" of the group, "launch.count", "lost.time"; no fact when there is none of them.
  FactPart Resolve(const std::string& name) const {
    for (const std::string& whole : {group_ + "." + name, name}) {
      if (const FactInfo* fact = Find(whole)) return {fact, ""};
      for (const char* part : {"time", "count"}) {
        const std::string tail = std::string(".") + part;
        if (!whole.ends_with(tail)) continue;
        const FactInfo* fact = Find(whole.substr(0, whole.size() - tail.size()));
        if (fact != nullptr && fact->unit == "spans") return {fact, part};
      }
    }
    return {};
  }

  FactPart MustResolve(const std::string& field, const std::string& name) {
    FactPart fact = Resolve(name);
    if (fact.fact == nullptr) NoFact(field, name);
    return fact;
  }

  void ReadGroup() {
    const std::string loss = fields_.Text(table_, "loss", Need::kMay);
    const std::string measure = fields_.Text(table_, "measure", Need::kMay);
    if (!loss.empty() && !measure.empty()) {
      fields_.Problem("measure", "wanted either loss or measure");
    }
    group_ = loss.empty() ? measure : loss;
    made_.has_evidence = !group_.empty();
    if (!loss.empty()) {
      made_.window = Fact("loss", kDeviceTime);
      made_.lost = Find(loss + ".lost");
      if (made_.lost == nullptr || made_.lost->unit != "spans") {
        fields_.Problem("loss", fmt::format("there is no time lost called \"{}.lost\"", loss),
                        "`advise facts --list` prints the facts");
        made_.lost = nullptr;
      }
    }
  }

  // A list of names, and of names with the facts they show.
  void ReadEvidence() {
    if (made_.lost != nullptr) made_.evidence.push_back({"share", {made_.lost, ""}});
    const int type = lua_getfield(state_, table_, "evidence");
    const int at = lua_gettop(state_);
    if (type == LUA_TTABLE && !made_.has_evidence) {
      fields_.Problem("evidence", "wanted loss or measure beside it");
    } else if (type == LUA_TTABLE) {
      for (const std::string& key : SortedKeys(state_, at)) {
        const bool in_list = key.front() == '[';
        if (!in_list) lua_getfield(state_, at, key.c_str());
        if (in_list) lua_rawgeti(state_, at, std::strtoll(key.c_str() + 1, nullptr, 10));
        const std::string field = fmt::format("evidence{}{}", in_list ? "" : ".", key);
        if (lua_type(state_, -1) != LUA_TSTRING) {
          fields_.Problem(field, "wanted the name of a fact, got " + DescribeLua(state_, -1));
        } else {
          const std::string fact = lua_tostring(state_, -1);
          AddEvidence(field, in_list ? fact : key, fact);
        }
        lua_settop(state_, at);
      }
    } else if (type != LUA_TNIL) {
      fields_.Problem("evidence", "wanted a table, got " + DescribeLua(state_, at));
    }
    lua_settop(state_, at - 1);
  }

  void AddEvidence(const std::string& field, const std::string& name, const std::string& fact) {
    if (!IsEvidenceName(name)) {
      fields_.Problem(field,
                      fmt::format("wanted a name in lower case with \"_\", got \"{}\"", name),
                      "write it as NAME = \"" + fact + "\"");
      return;
    }
    if (EvidenceOf(name) != nullptr) {
      fields_.Problem(field, fmt::format("\"{}\" is named twice", name));
      return;
    }
    const FactPart found = MustResolve(field, fact);
    if (found.fact == nullptr) return;
    if (!IsNumber(found) && found.fact->unit != "name" && found.fact->unit != "rows") {
      fields_.Problem(field,
                      fmt::format("wanted a number, a text or rows, but \"{}\" is {}",
                                  found.fact->name, found.fact->unit),
                      found.fact->unit == "spans" ? "add .time or .count" : "");
      return;
    }
    made_.evidence.push_back({name, found});
  }

  const Declaration::Shown* EvidenceOf(std::string_view name) const {
    const auto found = std::find_if(made_.evidence.begin(), made_.evidence.end(),
                                    [&](const auto& shown) { return shown.name == name; });
    return found == made_.evidence.end() ? nullptr : &*found;
  }

  // A function is the runner's business.
  void ReadApplies() {
    made_.not_applicable = fields_.Text(table_, "not_applicable", Need::kMay);
    if (made_.not_applicable.empty()) made_.not_applicable = kNothing;
    if (IsType("applies", LUA_TFUNCTION)) return;
    const std::string asked = fields_.Text(table_, "applies", Need::kMay);
    if (!asked.empty()) {
      made_.applies = MustResolve("applies", asked);
    } else if (const Declaration::Shown* count = EvidenceOf("count")) {
      made_.applies = count->fact;
    } else if (made_.has_evidence) {
      fields_.Problem("applies",
                      "missing field: name the fact that must be above zero, as in "
                      "applies = \"per_step\", or give \"count\" as evidence");
    }
  }

  void ReadLimits() {
    for (const std::string& threshold : rule_.thresholds) {
      const bool is_least = threshold.starts_with("min_");
      if (!is_least && !threshold.starts_with("max_")) continue;
      const std::string name = threshold.substr(4);
      Declaration::Limit limit{threshold, "", {}, is_least};
      if (const Declaration::Shown* shown = EvidenceOf(name)) {
        limit.evidence = name;
        limit.fact = shown->fact;
      } else {
        limit.fact.fact = Find(group_ + "." + name);
      }
      if (limit.fact.fact == nullptr) continue;  // left to detect
      const bool is_share = limit.fact.fact == made_.lost && name == "share";
      if (!is_share && !IsNumber(limit.fact)) {
        fields_.Problem("thresholds",
                        fmt::format("\"{}\" is compared with \"{}\", which is no number", threshold,
                                    limit.fact.fact->name));
        continue;
      }
      made_.limits.push_back(std::move(limit));
    }
  }

  // Texts, or a list of them, in a field of the table on the stack top.
  std::vector<const FactInfo*> Handles(const char* name, const char* unit) {
    std::vector<std::string> names;
    if (lua_getfield(state_, -1, name) == LUA_TTABLE) {
      lua_pop(state_, 1);
      names = fields_.Texts(-1, name, Need::kMay, "saving.");
    } else {
      lua_pop(state_, 1);
      const std::string one = fields_.Text(-1, name, Need::kMay, "saving.");
      if (!one.empty()) names.push_back(one);
    }
    std::vector<const FactInfo*> found;
    const std::string field = std::string("saving.") + name;
    for (const std::string& one : names) {
      const FactPart fact = MustResolve(field, one);
      if (fact.fact == nullptr) continue;
      if (fact.fact->unit == unit && fact.part.empty()) {
        found.push_back(fact.fact);
      } else {
        fields_.Problem(field, fmt::format("wanted {}, but \"{}\" is {}", unit, fact.fact->name,
                                           fact.fact->unit));
      }
    }
    return found;
  }

  void ReadSaving() {
    lua_getfield(state_, table_, "saving");
    fields_.OnlyFields(-1, {"claims", "remedy", "part", "confidence", "confidence_from", "basis"},
                       "saving.");
    Declaration::Saving& saving = made_.saving;
    made_.has_saving = true;
    saving.claims = Handles("claims", "spans");
    saving.remedies = Handles("remedy", "remedy");
    saving.basis = fields_.Text(-1, "basis", Need::kMust, "saving.");
    saving.confidence_from = fields_.Text(-1, "confidence_from", Need::kMay, "saving.");
    saving.confidence = fields_.Number(-1, "confidence", saving.confidence, "saving.");
    if (!(saving.confidence >= 0 && saving.confidence <= 1)) {
      fields_.Problem("saving.confidence", fmt::format("wanted 0 to 1, got {}", saving.confidence));
    }
    const int part = lua_getfield(state_, -1, "part");
    lua_pop(state_, 1);
    if (part == LUA_TSTRING) {
      const std::string threshold = fields_.Text(-1, "part", Need::kMay, "saving.");
      if (!IsIn(threshold, rule_.thresholds)) {
        fields_.Problem("saving.part", fmt::format("there is no threshold \"{}\"", threshold),
                        "add it to thresholds");
      }
      saving.part = threshold;
    } else {
      saving.part = fields_.Number(-1, "part", 1.0, "saving.");
    }
    lua_pop(state_, 1);
    if (saving.claims.empty() && made_.lost != nullptr) saving.claims.push_back(made_.lost);
    const FactInfo* remedy = Find(group_ + ".remedy");
    if (saving.remedies.empty() && part == LUA_TNIL && made_.lost != nullptr && remedy != nullptr) {
      saving.remedies.push_back(remedy);
    }
    if (saving.claims.empty()) fields_.Problem("saving.claims", "missing field");
  }

  static bool Holds(const std::vector<std::string>& names, const std::string& name) {
    return IsIn(name, names);
  }

  void AddTo(std::vector<std::string>& names, const FactInfo* fact) const {
    if (fact == nullptr || Holds(rule_.needs, fact->name) || Holds(rule_.optional, fact->name))
      return;
    names.push_back(fact->name);
  }

  // Every fact that the declaration names, unless the rule says that it may be absent.
  void AddNeeds() {
    AddTo(rule_.needs, made_.window);
    AddTo(rule_.needs, made_.applies.fact);
    for (const auto& shown : made_.evidence) {
      if (shown.fact.fact != made_.lost) AddTo(rule_.needs, shown.fact.fact);
    }
    for (const auto& limit : made_.limits) {
      if (limit.fact.fact != made_.lost) AddTo(rule_.needs, limit.fact.fact);
    }
    AddTo(rule_.needs, made_.lost);
    for (const auto* facts : {&made_.saving.claims, &made_.saving.remedies}) {
      for (const FactInfo* fact : *facts) AddTo(rule_.needs, fact);
    }
  }

  lua_State* state_;
  LuaFields& fields_;
  int table_;
  const FactCatalog& catalog_;
  RuleInfo& rule_;
  std::string group_;  // "copy.pageable"
  Declaration made_;
};

}  // namespace

Declaration ReadDeclaration(LuaFields& fields, int table, const FactCatalog& catalog,
                            RuleInfo& rule) {
  return DeclarationReader(fields, table, catalog, rule).Read();
}

}  // namespace advise
