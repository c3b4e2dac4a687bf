#include "engine/script/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <lua.hpp>
#include <map>
#include <mutex>
#include <numeric>
#include <set>

#include "engine/base/is_in.h"
#include "engine/base/side_by_side.h"
#include "engine/base/text.h"
#include "engine/script/declaration.h"
#include "engine/script/lua_fields.h"
#include "engine/script/packed_rule.h"
#include "engine/script/run_context.h"
#include "engine/script/sandbox.h"
#include "engine/script/test_reader.h"
#include "engine/script/verdict_reader.h"

namespace advise {

struct LoadedRule {
  std::unique_ptr<Sandbox> own;  // of a rule that came as a text, with its chunk
  int chunk = 0;
  std::string_view bytecode;  // of one that is built in, once it is ready

  std::mutex busy;
  bool ready = false;  // the following is there, and the bytecode
  Declaration declared;
  FactNode facts;                      // what `f` shows
  std::vector<const FactInfo*> needs;  // in the order of the file

  // Until the set is complete; of one that is built in, the packed rest stays.
  RuleFile file;
  RuleInfo info;
  std::vector<Error> errors;
  bool failed = false;  // it has no info
};

// Lua states for rules that are built in. A chunk is loaded when a state first runs it.
class BuiltInStates {
 public:
  struct State {
    Sandbox sandbox;
    std::map<const LoadedRule*, int> chunks;
  };

  // One that nobody else has; to be given back.
  std::unique_ptr<State> Take() {
    const std::lock_guard<std::mutex> lock(busy_);
    if (free_.empty()) return std::make_unique<State>();
    std::unique_ptr<State> state = std::move(free_.back());
    free_.pop_back();
    return state;
  }
  void GiveBack(std::unique_ptr<State> state) {
    const std::lock_guard<std::mutex> lock(busy_);
    free_.push_back(std::move(state));
  }

 private:
  std::mutex busy_;
  std::vector<std::unique_ptr<State>> free_;
};

namespace {

void AddFact(FactNode& root, const FactInfo& info, bool is_optional) {
  FactNode* node = &root;
  std::string_view rest = info.name;
  while (!rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    FactNode& child = node->children[std::string(rest.substr(0, dot))];
    rest.remove_prefix(std::min(dot + 1, rest.size()));
    child.path = info.name.substr(0, info.name.size() - (rest.empty() ? 0 : rest.size() + 1));
    node = &child;
  }
  node->fact = &info;
  node->is_optional = is_optional;
}

// What repeats: "step", or what the run is made of where its names say so.
std::string UnitOfLoop(const Facts& facts) {
  const Fact* unit = facts.Find("run.unit");
  const auto* word = unit == nullptr ? nullptr : std::get_if<std::string>(&unit->value);
  const bool named =
      word != nullptr && (*word == "request" || *word == "token" || *word == "iteration");
  return named ? *word : "step";
}

// Facts "per step" are of all the window where no steps were found: {per:text} says which.
void AddPer(const Facts& facts, Verdict& verdict) {
  const RuleInfo& rule = *verdict.rule;
  const auto says = [](const std::string& text) {
    return text.find("{per:text}") != std::string::npos;
  };
  const auto fix_says = [&](const Fix& fix) { return says(fix.action); };
  if (!says(rule.symptom) && !says(rule.cause) &&
      std::none_of(rule.fixes.begin(), rule.fixes.end(), fix_says)) {
    return;
  }
  const Fact* steps = facts.Find("steps.count");
  const bool known = steps != nullptr && !std::holds_alternative<Absent>(steps->value);
  verdict.evidence.emplace("per", known ? "per " + UnitOfLoop(facts) : "in the window");
}

// What applies() says, with `f` on the stack top; false when the verdict is known.
bool AskApplies(lua_State* state, int rule, Verdict& verdict) {
  const int f = lua_gettop(state);
  if (lua_getfield(state, rule, "applies") != LUA_TFUNCTION) {
    lua_settop(state, f);
    return true;
  }
  lua_pushvalue(state, f);
  PushThresholds(state);
  lua_call(state, 2, 2);
  if (lua_type(state, -2) != LUA_TBOOLEAN) {
    luaL_error(state, "applies: wanted true or false, got %s", DescribeLua(state, -2).c_str());
  }
  const bool applies = lua_toboolean(state, -2) != 0;
  if (!applies) {
    if (lua_type(state, -1) != LUA_TSTRING) {
      luaL_error(state, "applies: wanted a reason beside false, got %s",
                 DescribeLua(state, -1).c_str());
    }
    verdict.outcome = Outcome::kNotApplicable;
    verdict.reason = lua_tostring(state, -1);
  }
  lua_settop(state, f);
  return applies;
}

// Shares of no time are zero, and say nothing.
bool JudgesNoTime(const RunContext& context) {
  const Fact* const time = context.facts.Find("window.device_time");
  const auto* const length = time == nullptr ? nullptr : std::get_if<double>(&time->value);
  return length != nullptr && *length == 0 &&
         IsIn("window.device_time", context.verdict.rule->needs);
}

// Calls applies, detect and saving, or what is declared in their place; the rule's table is on the
// stack top.
void AskRule(lua_State* state, const LoadedRule& loaded, RunContext& context) {
  Verdict& verdict = context.verdict;
  const int rule = lua_gettop(state);
  bool asked = false;
  Sandbox::Of(state).OffTheClock([&] { asked = Applies(loaded.declared, loaded.needs, context); });
  if (!asked) return;
  PushFacts(state, loaded.facts);
  const int f = lua_gettop(state);
  if (!AskApplies(state, rule, verdict)) return;
  bool missing = false;
  Sandbox::Of(state).OffTheClock([&] { missing = context.FindMissing(loaded.needs); });
  if (missing) return;
  if (JudgesNoTime(context)) {
    verdict.outcome = Outcome::kNotApplicable;
    verdict.reason = "no GPU did anything";
    return;
  }

  PushThresholds(state);
  const int t = lua_gettop(state);
  if (!PushEvidence(state, loaded.declared, context)) return;
  int evidence = lua_gettop(state);
  if (lua_getfield(state, rule, "detect") == LUA_TFUNCTION) {
    for (const int argument : {f, t, evidence}) lua_pushvalue(state, argument);
    lua_call(state, 3, 1);
    if (lua_isnil(state, -1)) return;
    evidence = lua_gettop(state);
  } else {
    lua_settop(state, evidence);
  }
  ReadEvidence(state, evidence, verdict);
  AddPer(context.facts, verdict);

  const std::size_t of_verdict = verdict.comparisons.size();
  if (loaded.declared.has_saving) {
    Sandbox::Of(state).OffTheClock([&] { FillSaving(loaded.declared, context); });
  } else if (lua_getfield(state, rule, "saving") == LUA_TFUNCTION) {
    for (const int argument : {f, t, evidence}) lua_pushvalue(state, argument);
    lua_call(state, 3, 1);
    if (!lua_isnil(state, -1)) ReadSaving(state, -1, verdict.saving);
  }
  for (std::size_t i = of_verdict; i < verdict.comparisons.size(); ++i)
    verdict.comparisons[i].of_saving = true;
  verdict.outcome = Outcome::kFired;
}

// Lua's messages begin with the place only when Lua code raised them.
std::string WithPath(const std::string& text, const std::string& path) {
  return text.rfind(path + ":", 0) == 0 ? text : path + ": " + text;
}

// "file:12: text" as an Error.
Error ErrorIn(const std::string& text, const std::string& path) {
  const std::string full = WithPath(text, path);
  const std::size_t end = full.find(": ", path.size());
  if (end == std::string::npos) return {full, path, ""};
  return {full.substr(end + 2), full.substr(0, end), ""};
}

// Runs a step of loading.
void Try(LoadedRule& rule, const std::function<void(lua_State*)>& step) {
  rule.own->Renew();
  const std::optional<std::string> problem = rule.own->Protect(step);
  if (!problem) return;
  rule.errors.push_back(ErrorIn(*problem, rule.file.path));
  rule.failed = true;
}

std::unique_ptr<LoadedRule> ReadOne(RuleFile file, InlineTests shipped, const Knowledge& knowledge,
                                    const FactCatalog& catalog) {
  auto rule = std::make_unique<LoadedRule>();
  rule->file = std::move(file);
  if (!rule->file.prepared.empty()) {
    rule->info = UnpackRule(rule->file.prepared);
    return rule;
  }
  rule->own = std::make_unique<Sandbox>();
  const InlineTests tests = rule->file.of_site ? InlineTests::kChecked : shipped;
  Try(*rule, [&](lua_State* state) {
    rule->chunk = rule->own->Compile(state, rule->file.text, rule->file.path);
  });
  if (rule->failed) return rule;
  Try(*rule, [&](lua_State* state) {
    rule->own->CallChunk(state, rule->chunk);
    rule->info =
        ReadRule(state, rule->file, tests, knowledge, catalog, rule->declared, rule->errors);
  });
  rule->info.source = std::move(rule->file.text);
  return rule;
}

// Before the rule is asked for the first time.
void MakeReady(LoadedRule& rule, const RuleInfo& info, const FactCatalog& catalog) {
  if (rule.ready) return;
  rule.ready = true;
  if (rule.own == nullptr) {
    rule.declared = UnpackDeclaration(rule.file.prepared, catalog);
    rule.bytecode = rule.file.prepared;
  }
  for (const auto* list : {&info.needs, &info.optional}) {
    for (const std::string& name : *list) {
      const auto fact = catalog.find(name);
      if (fact == catalog.end()) continue;
      AddFact(rule.facts, fact->second, list == &info.optional);
      if (list == &info.needs) rule.needs.push_back(&fact->second);
    }
  }
}

// A rule of a folder gives way to one with the same id in a later folder.
void LeaveOutReplaced(std::vector<std::unique_ptr<LoadedRule>>& rules) {
  std::map<std::string, int> latest;
  for (const auto& rule : rules) {
    if (rule->failed) continue;
    int& folder = latest.emplace(rule->info.id, 0).first->second;
    folder = std::max(folder, rule->file.folder);
  }
  std::erase_if(rules, [&](const auto& rule) {
    return !rule->failed && rule->file.folder > 0 && rule->file.folder < latest.at(rule->info.id);
  });
}

}  // namespace

RuleSet::RuleSet(RuleSet&&) noexcept = default;
RuleSet& RuleSet::operator=(RuleSet&&) noexcept = default;
RuleSet::~RuleSet() = default;

tl::expected<RuleSet, std::vector<Error>> RuleSet::Load(std::vector<RuleFile> files,
                                                        const Knowledge& knowledge,
                                                        const std::vector<FactInfo>& catalog,
                                                        InlineTests shipped) {
  RuleSet set;
  set.knowledge_ = &knowledge;
  set.built_in_ = std::make_unique<BuiltInStates>();
  auto names = std::make_shared<FactCatalog>();
  for (const FactInfo& fact : catalog) names->emplace(fact.name, fact);
  set.catalog_ = names;

  std::vector<std::unique_ptr<LoadedRule>> read(files.size());
  const bool ready = std::all_of(files.begin(), files.end(),
                                 [](const RuleFile& file) { return !file.prepared.empty(); });
  SideBySide(files.size(), ready ? 1 : StartThreads(), [&](std::size_t i) {
    read[i] = ReadOne(std::move(files[i]), shipped, knowledge, *names);
  });
  LeaveOutReplaced(read);
  std::vector<Error> errors;
  std::vector<RuleInfo> rules;
  std::vector<std::unique_ptr<LoadedRule>> loaded;
  rules.reserve(read.size());
  for (std::unique_ptr<LoadedRule>& one : read) {
    std::move(one->errors.begin(), one->errors.end(), std::back_inserter(errors));
    if (one->failed) continue;
    rules.push_back(std::move(one->info));
    loaded.push_back(std::move(one));
  }

  std::vector<std::string> replaced;
  std::set<std::string_view> known;
  for (const RuleInfo& rule : rules) {
    if (!known.insert(rule.id).second) {
      errors.push_back({fmt::format("id: two rules are called \"{}\"", rule.id), rule.path, ""});
    }
    if (rule.replaces.empty()) continue;
    std::vector<std::string> ids;
    ids.reserve(rules.size());
    for (const RuleInfo& other : rules) ids.push_back(other.id);
    if (!IsIn(rule.replaces, ids)) {
      errors.push_back({fmt::format("replaces: there is no rule \"{}\"", rule.replaces), rule.path,
                        Suggestion(rule.replaces, ids)});
    }
    if (IsIn(rule.replaces, replaced)) {
      errors.push_back(
          {fmt::format("replaces: another rule replaces \"{}\"", rule.replaces), rule.path,
           "`advise rules list` tells where rules come from; --no-site leaves out those that no "
           "option names"});
    }
    replaced.push_back(rule.replaces);
  }
  if (!errors.empty()) return tl::unexpected<std::vector<Error>>(std::move(errors));

  std::vector<std::size_t> order(rules.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return rules[a].id < rules[b].id; });
  set.rules_.reserve(rules.size());
  for (const std::size_t at : order) {
    if (IsIn(rules[at].id, replaced)) continue;
    set.rules_.push_back(std::move(rules[at]));
    set.loaded_.push_back(std::move(loaded[at]));
  }
  return set;
}

const RuleInfo* RuleSet::Find(std::string_view id) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const RuleInfo& rule) { return rule.id == id; });
  return found == rules_.end() ? nullptr : &*found;
}

LoadedRule& RuleSet::LoadedOf(const RuleInfo& rule) const {
  return *loaded_[static_cast<std::size_t>(&rule - rules_.data())];
}

Verdict RuleSet::Run(const RuleInfo& rule, const Facts& facts) const {
  Verdict verdict;
  verdict.rule = &rule;
  RunContext context{facts, *knowledge_, verdict, {}, false, {}};
  Ask(rule, context);
  return verdict;
}

RuleSet::Trial RuleSet::Try(const RuleInfo& rule, const Facts& facts,
                            std::optional<bool> every_comparison) const {
  Trial trial;
  trial.verdict.rule = &rule;
  RunContext context{facts, *knowledge_, trial.verdict, {}, false, every_comparison};
  Ask(rule, context);
  for (const Threshold* threshold : context.thresholds_read) {
    trial.thresholds.push_back(threshold->name.substr(threshold->name.rfind('.') + 1));
  }
  return trial;
}

void RuleSet::Ask(const RuleInfo& rule, RunContext& context) const {
  LoadedRule& loaded = LoadedOf(rule);
  const std::lock_guard<std::mutex> lock(loaded.busy);
  MakeReady(loaded, rule, *catalog_);
  std::unique_ptr<BuiltInStates::State> shared;
  if (loaded.own == nullptr) shared = built_in_->Take();
  Sandbox& sandbox = shared == nullptr ? *loaded.own : shared->sandbox;
  int& chunk = shared == nullptr ? loaded.chunk : shared->chunks[&loaded];
  Verdict& verdict = context.verdict;
  sandbox.context = &context;
  sandbox.Renew();
  const std::optional<std::string> problem = sandbox.Protect([&](lua_State* state) {
    if (chunk == 0) chunk = sandbox.LoadBytecode(state, loaded.bytecode);
    sandbox.CallChunk(state, chunk);
    AskRule(state, loaded, context);
  });
  sandbox.context = nullptr;
  if (shared != nullptr) built_in_->GiveBack(std::move(shared));
  if (!problem) return;
  verdict.evidence.clear();
  verdict.tables.clear();
  verdict.saving = {};
  if (context.needs_missing) {
    // applies() read an absent need: name the others, too.
    verdict.missing.clear();
    context.FindMissing(loaded.needs);
  } else {
    verdict.outcome = Outcome::kBroken;
    verdict.reason = WithPath(*problem, rule.path);
  }
}

std::vector<RuleTest> RuleSet::Tests(const RuleInfo& rule, std::vector<Error>& errors) const {
  std::vector<RuleTest> tests;
  if (rule.source.empty()) return tests;
  Sandbox sandbox;
  const std::optional<std::string> problem = sandbox.Protect([&](lua_State* state) {
    sandbox.CallChunk(state, sandbox.Compile(state, rule.source, rule.path));
    tests = ReadTests(state, rule, *catalog_, errors);
  });
  if (problem) errors.push_back(ErrorIn(*problem, rule.path));
  return tests;
}

std::vector<std::string> RuleSet::DeclaredLimits(const RuleInfo& rule) const {
  std::vector<std::string> names;
  for (const Declaration::Limit& limit : LoadedOf(rule).declared.limits)
    names.push_back(limit.threshold);
  return names;
}

std::string RuleSet::Packed(const RuleInfo& rule) const {
  return PackRule(rule, LoadedOf(rule).declared);
}

}  // namespace advise
